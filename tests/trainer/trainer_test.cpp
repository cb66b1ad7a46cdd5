// tests/trainer/trainer_test.cpp: what each fact does to the parameters, and which tapes are refused.
//
// Goal:   facts mean what the tape's header says; a tape that breaks its rules is our bug and loud.
// Method: tapes of a dozen facts; exact equality of bits wherever nothing may change.
// Teeth:  seen failing with the outer rate ignored, an update counted for an empty batch, an
//         evaluation of learner 0 instead of the syncer or the other way round, an old loss used
//         again after a merge or a step, the mixing swapped, lost takes kept, weight 0 passed on, a
//         merge that writes into the version before it, versions never forgotten, broadcasts that
//         are lost or sent again not counted, a donor's not shared, divergence not told,
//         and, one by one, without the checks on: a second take, another incarnation, takes left
//         over, a second send, another checkpoint's step, the batch, the mixing.
#include "sim/trainer/trainer.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "tests/trainer/tape_fixture.h"

namespace sim::trainer {
namespace {

// Two learners, three fragments; each round both step, everything is merged and adopted.
HandTape rounds(std::uint32_t count) {
  HandTape tape;
  std::uint32_t sync = 0;
  for (std::uint32_t step = 0; step < count; ++step) {
    for (const std::uint16_t m : indices(2)) tape.steps(m, step);
    for (const std::uint16_t p : indices(3)) {
      for (const std::uint16_t m : indices(2)) tape.take(sync, p, m);
      tape.merge(sync, p, {0, 1});
      for (const std::uint16_t m : indices(2)) tape.adopt(sync, p, m);
      ++sync;
    }
  }
  return tape;
}

TEST_CASE("trainer: outer learning rate 0 freezes the global model exactly", "[unit][trainer]") {
  const tape::RunShape shape = make_shape(2, 1, 8, 3);
  TrainerOptions options = make_options(shape);
  options.outer.learning_rate = 0;
  Trainer trainer(shape, options);
  const optim::AlignedBlock before = trainer.global_parameters();
  play(rounds(5), trainer);
  CHECK(same_bits(trainer.global_parameters().span(), before.span()));

  options.outer.learning_rate = 0.7;
  Trainer moving(shape, options);
  play(rounds(5), moving);
  CHECK_FALSE(same_bits(moving.global_parameters().span(), before.span()));
}

TEST_CASE("trainer: momentum changes the path from the second round on", "[unit][trainer]") {
  const tape::RunShape shape = make_shape(2, 1, 8, 3);
  TrainerOptions plain = make_options(shape), heavy = plain;
  plain.outer = {optim::OuterKind::kSgd, 0.7, 0};
  Trainer a(shape, plain), b(shape, heavy);
  play(rounds(2), a);
  play(rounds(2), b);
  CHECK_FALSE(same_bits(a.global_parameters().span(), b.global_parameters().span()));
}

TEST_CASE("trainer: a step without slots changes nothing", "[unit][trainer]") {
  const tape::RunShape shape = make_shape(1, 1, 8, 1);
  Trainer trainer(shape, make_options(shape));
  const LearnerState before = trainer.learner(0);
  HandTape tape;
  tape.slice(0, tape::SliceState::kFailed);
  tape.steps(0, 0, 3);
  play(tape, trainer);
  CHECK(same_bits(trainer.learner(0), before));
  CHECK(trainer.learner(0).inner.updates == 0);
}

TEST_CASE("trainer: a missing slice takes its examples along", "[unit][trainer]") {
  // Two slices with 4 slots each, the second down = one slice with the first 4 slots. Both batches
  // are one chunk, so the bits are the same.
  const tape::RunShape two = make_shape(1, 2, 4, 1);
  tape::RunShape one = make_shape(1, 1, 4, 1);
  one.batch_tokens = two.batch_tokens;  // same place in the schedule
  Trainer a(two, make_options(two)), b(one, make_options(one));
  HandTape tape;
  tape.slice(1, tape::SliceState::kFailed);
  tape.steps(0, 0, 3);
  play(tape, a);
  b.on(tape.facts.back());
  CHECK(same_bits(a.learner(0), b.learner(0)));
}

TEST_CASE("trainer: adoption mixes the local value in by alpha", "[unit][trainer]") {
  const tape::RunShape shape = make_shape(1, 1, 8, 1);
  TrainerOptions options = make_options(shape);
  options.mixing = 0.25;
  Trainer trainer(shape, options);
  HandTape tape;
  tape.steps(0, 0, 2);
  tape.take(0, 0, 0);
  tape.merge(0, 0, {0});
  play(tape, trainer);
  const optim::AlignedBlock local = trainer.learner(0).parameters;
  const optim::AlignedBlock global = trainer.global_parameters();
  HandTape adoption;
  adoption.adopt(0, 0, 0);
  play(adoption, trainer);
  const optim::AlignedBlock& mixed = trainer.learner(0).parameters;
  for (std::size_t i = 0; i < mixed.size(); ++i) {
    REQUIRE(mixed[i] == static_cast<float>(0.25 * double{local[i]} + 0.75 * double{global[i]}));
  }
}

TEST_CASE("trainer: a lost take is in no merge and leaves nothing behind", "[unit][trainer]") {
  const tape::RunShape shape = make_shape(2, 1, 8, 1);
  HandTape both, one;
  for (HandTape* tape : {&both, &one}) {
    for (const std::uint16_t m : indices(2)) tape->steps(m, 0, 2);
    tape->take(0, 0, 0);
  }
  both.take(0, 0, 1);
  both.lose(0, 0, 1);
  for (HandTape* tape : {&both, &one}) tape->merge(0, 0, {0});
  Trainer a(shape, make_options(shape)), b(shape, make_options(shape));
  play(both, a);
  play(one, b);
  CHECK(same_bits(everything(a, 2), everything(b, 2)));
  CHECK(a.open_items() == 1);  // the merged version, which nobody has adopted
}

TEST_CASE("trainer: contributions of weight 0 have no say", "[unit][trainer]") {
  const tape::RunShape shape = make_shape(2, 1, 8, 1);
  const TrainerOptions options = make_options(shape);
  Trainer a(shape, options), b(shape, options), c(shape, options);
  const optim::AlignedBlock before = c.global_parameters();
  HandTape head;
  for (const std::uint16_t m : indices(2)) head.steps(m, 0, 2);
  head.take(0, 0, 0);
  for (Trainer* trainer : {&a, &b, &c}) play(head, *trainer);
  HandTape with_zero, without, all_zero;
  with_zero.take(0, 0, 1);
  with_zero.merge(0, 0, {{3.0, 0, 0}, {0.0, 1, 0}});
  without.merge(0, 0, {0});
  all_zero.merge(0, 0, {{0.0, 0, 0}});
  play(with_zero, a);
  play(without, b);
  play(all_zero, c);
  CHECK(same_bits(a.global_parameters().span(), b.global_parameters().span()));
  CHECK(same_bits(c.global_parameters().span(), before.span()));
}

TEST_CASE("trainer: evaluations see the global model at their place on the tape", "[unit][trainer]") {
  const tape::RunShape shape = make_shape(2, 1, 8, 3);
  TrainerOptions options = make_options(shape);
  options.outer = {optim::OuterKind::kSgd, 1.0, 0};  // twenty rounds of momentum would overshoot
  Trainer trainer(shape, options);
  const HandTape training = rounds(20);
  HandTape head, tail;
  head.evaluate(0);
  head.steps(0, 0, 2);
  head.evaluate(10);  // learner 0 has moved, the syncer has not
  tail.mark(20);
  tail.end(30);
  play(head, trainer);
  play(training, trainer);
  play(tail, trainer);
  trainer.finish();
  REQUIRE(trainer.evaluations().size() == 4);
  CHECK(trainer.evaluations()[0].loss == trainer.initial_loss());
  CHECK(trainer.evaluations()[1].loss == trainer.initial_loss());
  CHECK(trainer.evaluations()[2].loss < trainer.initial_loss());
  CHECK(trainer.evaluations()[3].loss == trainer.evaluations()[2].loss);
  CHECK(trainer.evaluations()[3].tokens == 30);
  REQUIRE(trainer.marks().size() == 1);
  CHECK(trainer.marks()[0].mark == tape::MarkKind::kTokens);
  CHECK(trainer.marks()[0].evaluation.loss == trainer.evaluations()[2].loss);
  CHECK(trainer.convergence().rows().size() == 60);
}

TEST_CASE("trainer: with data parallel the global model is learner 0's own", "[unit][trainer]") {
  tape::RunShape shape = make_shape(1, 2, 8, 1);
  shape.model_is_learner = true;
  Trainer trainer(shape, make_options(shape));
  HandTape tape;
  tape.evaluate(0);
  tape.steps(0, 0, 5);
  tape.evaluate(10);
  play(tape, trainer);
  CHECK(same_bits(trainer.global_parameters().span(), trainer.learner(0).parameters.span()));
  CHECK(trainer.evaluations()[0].loss == trainer.initial_loss());
  CHECK(trainer.evaluations()[1].loss != trainer.initial_loss());
}

TEST_CASE("trainer: versions are kept until every learner has adopted or passed them",
          "[unit][trainer]") {
  const tape::RunShape shape = make_shape(2, 1, 8, 1);
  Trainer trainer(shape, make_options(shape));
  HandTape tape;
  for (const std::uint32_t sync : {0u, 1u, 2u}) {
    tape.steps(0, sync);
    tape.take(sync, 0, 0);
    tape.merge(sync, 0, {0});
  }
  HandTape start, middle;
  start.facts.assign(tape.facts.begin(), tape.facts.begin() + 6);
  middle.facts.assign(tape.facts.begin() + 6, tape.facts.end());
  play(start, trainer);
  const optim::AlignedBlock second = trainer.global_parameters();  // made by sync 1
  play(middle, trainer);
  CHECK(trainer.open_items() == 3);
  HandTape more;
  more.adopt(2, 0, 0);
  more.adopt(1, 0, 1);  // the older version, after the newer exists
  play(more, trainer);
  CHECK(same_bits(trainer.learner(1).parameters.span(), second.span()));
  CHECK(trainer.open_items() == 1);
  HandTape gone;
  gone.adopt(1, 0, 1);
  CHECK_THROWS_WITH(play(gone, trainer), "learner 1 adopts fragment 0 of sync 1, which is not kept");
}

// A learner a thousand merges behind adopts one after the other, as in a world where it is slow.
TEST_CASE("trainer: a version is kept for a learner however far behind", "[unit][trainer]") {
  const tape::RunShape shape = make_shape(2, 1, 8, 1);
  Trainer trainer(shape, make_options(shape));
  for (std::uint32_t sync = 0; sync < 1500; ++sync) {
    HandTape tape;
    tape.take(sync, 0, 0);
    tape.merge(sync, 0, {0});
    tape.adopt(sync, 0, 0);
    play(tape, trainer);
  }
  CHECK(trainer.open_items() == 1500);
  HandTape late;
  late.adopt(3, 0, 1);
  late.adopt(692, 0, 1);
  play(late, trainer);
  CHECK(trainer.open_items() == 1500 - 693);
}

TEST_CASE("trainer: who copies a peer may adopt what that peer had received", "[unit][trainer]") {
  const tape::RunShape shape = make_shape(3, 1, 8, 1);
  Trainer trainer(shape, make_options(shape));
  HandTape tape;
  for (const std::uint32_t sync : {0u, 1u, 2u}) {
    tape.take(sync, 0, 0);
    tape.merge(sync, 0, {0});
    tape.adopt(sync, 0, 0);
    tape.adopt(sync, 0, 1);
  }
  tape.send(1, 2, 1);  // learner 2 has adopted nothing yet
  tape.adopt(2, 0, 2);
  tape.copy(1, 2, 1);
  tape.adopt(0, 0, 1);
  tape.adopt(1, 0, 1);
  play(tape, trainer);
  CHECK(trainer.open_items() == 1);  // the newest
}

TEST_CASE("trainer: a loss that is no number ends the results", "[unit][trainer]") {
  const tape::RunShape shape = make_shape(1, 1, 8, 1);
  TrainerOptions options = make_options(shape);
  // The outer step multiplies each distance by 1e30: past the largest float in two merges.
  options.outer = {optim::OuterKind::kNesterov, 1e30, 0.0};
  Trainer trainer(shape, options);
  HandTape tape;
  tape.evaluate(10);
  for (const std::uint32_t sync : {0u, 1u, 2u}) {
    tape.steps(0, sync);
    tape.take(sync, 0, 0);
    tape.merge(sync, 0, {0});
    tape.adopt(sync, 0, 0);
  }
  tape.evaluate(20);  // the fourteenth fact, so at 13 ns
  tape.mark(30);
  tape.end(40);
  play(tape, trainer);
  trainer.finish();
  REQUIRE(trainer.diverged());
  CHECK(trainer.diverged()->at == 13);
  CHECK(trainer.diverged()->step == 2);
  REQUIRE(trainer.evaluations().size() == 1);
  CHECK(trainer.evaluations()[0].tokens == 10);
  CHECK(trainer.marks().empty());
  CHECK(std::isnan(trainer.last_loss()));
}

TEST_CASE("trainer: a learner that nothing is sent to costs no memory", "[unit][trainer]") {
  const tape::RunShape shape = make_shape(2, 1, 8, 1);
  Trainer trainer(shape, make_options(shape));
  for (std::uint32_t sync = 0; sync < 1500; ++sync) {
    HandTape tape;
    tape.take(sync, 0, 0);
    tape.merge(sync, 0, {0});
    tape.adopt(sync, 0, 0);
    tape.add(tape::BroadcastChanged{sync, 1, 0, 0});
    play(tape, trainer);
  }
  CHECK(trainer.open_items() == 1);
  HandTape again;
  again.add(tape::BroadcastChanged{1499, 1, 0, 1});  // a shard that came back sends the newest
  again.take(1500, 0, 0);
  again.merge(1500, 0, {0});
  again.adopt(1499, 0, 1);
  play(again, trainer);
  CHECK(trainer.open_items() == 1);
}

TEST_CASE("trainer: a tape that breaks its rules is refused", "[unit][trainer]") {
  const tape::RunShape shape = make_shape(2, 1, 8, 1);
  HandTape tape;
  const auto refusal = [&](std::string text) {
    Trainer trainer(shape, make_options(shape));
    CHECK_THROWS_WITH(play(tape, trainer), text);
    tape = {};
  };
  tape.take(5, 0, 0);
  tape.take(5, 0, 0);
  refusal("a fragment is taken twice for sync 5");
  tape.merge(5, 0, {0});
  refusal("a contributor has no take for sync 5");
  tape.take(5, 0, 0);
  tape.merge(5, 0, {{1.0, 0, 3}});
  refusal("a contributor is of another incarnation than its take for sync 5");
  tape.take(5, 0, 0);
  tape.take(5, 0, 1);
  tape.merge(5, 0, {1});
  refusal("a take is neither merged nor lost in sync 5");
  tape.merge(5, 0, std::vector<tape::Contributor>{});
  refusal("sync 5 merges nobody");
  tape.lose(5, 0, 0);
  refusal("a fragment is lost that was not taken for sync 5");
  tape.take(5, 1, 0);
  refusal("fragment 1 of 1");
  tape.steps(2, 0);
  refusal("learner 2 of 2");
  tape.copy(4, 0, 1);
  refusal("state arrives that nobody sent in transfer 4");
  tape.send(4, 0, 1);
  tape.send(4, 0, 1);
  refusal("state is sent twice in transfer 4");
  tape.add(tape::StateLost{4, 0, 1, tape::LossReason::kDonorDied});
  refusal("state is lost that nobody sent in transfer 4");
  tape.save(0, 6);
  tape.roll_back(0, 5);
  refusal("learner 0 rolls back to step 5; its checkpoint holds 6");
}

TEST_CASE("trainer: options that do not fit the shape are refused", "[unit][trainer]") {
  const tape::RunShape shape = make_shape(2, 1, 8, 1);
  TrainerOptions options = make_options(shape);
  options.learning.batch = 15;
  CHECK_THROWS_WITH(Trainer(shape, options), "a batch of 15 examples does not fill 16 slots");
  options = make_options(shape);
  options.mixing = 1.5;
  CHECK_THROWS_WITH(Trainer(shape, options), "mixing must be in [0, 1]; got 1.5");
  CHECK_THROWS_WITH(Trainer(tape::RunShape{}, options), "a run needs at least one learner");
}

}  // namespace
}  // namespace sim::trainer

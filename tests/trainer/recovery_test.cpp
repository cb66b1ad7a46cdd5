// tests/trainer/recovery_test.cpp: rollbacks, copied states and a restored syncer, bit for bit.
//
// Goal:   after a recovery nothing is left of what was undone, and nothing is missing of what was
//         copied, moments and their count included.
// Method: pairs of tapes that must end in the same bits, and the planted bug that must not.
// Teeth:  seen failing with the moments left out of the copy, with the state sent read at its
//         arrival, with the rollback ignored, with a checkpoint used for step 0, with work dropped
//         from nodes that are read, with later steps added to such nodes, with the syncer's state
//         sent with a learner's moments, with the outer momentum, or the second moment, kept over a
//         restore, and with the version received left as it was by a rollback.
#include <catch2/catch.hpp>

#include "sim/trainer/trainer.h"
#include "tests/trainer/tape_fixture.h"

namespace sim::trainer {
namespace {

LearnerState after(const tape::RunShape& shape, const HandTape& tape, std::uint16_t learner) {
  Trainer trainer(shape, make_options(shape));
  play(tape, trainer);
  return trainer.learner(learner);
}

TEST_CASE("trainer recovery: a rollback gives the bits of never having run those steps",
          "[unit][trainer]") {
  const tape::RunShape shape = make_shape(1, 2, 8, 1);
  HandTape straight, rolled, planted;
  straight.steps(0, 0, 10);
  for (HandTape* tape : {&rolled, &planted}) {
    tape->steps(0, 0, 5);
    tape->save(0, 5);
    tape->steps(0, 5, 3);
    if (tape == &rolled) tape->roll_back(0, 5);
    tape->steps(0, 5, 5);
  }
  const LearnerState expected = after(shape, straight, 0);
  CHECK(same_bits(after(shape, rolled, 0), expected));
  CHECK_FALSE(same_bits(after(shape, planted, 0), expected));  // the rollback left out
}

TEST_CASE("trainer recovery: only the last checkpoint counts, and it can be used twice",
          "[unit][trainer]") {
  const tape::RunShape shape = make_shape(1, 1, 8, 1);
  HandTape straight, rolled;
  straight.steps(0, 0, 8);
  rolled.steps(0, 0, 2);
  rolled.save(0, 2);
  rolled.steps(0, 2, 4);
  rolled.save(0, 6);
  for (int hit = 0; hit < 2; ++hit) {
    rolled.steps(0, 6, 7);
    rolled.evaluate(0);
    rolled.roll_back(0, 6);
  }
  rolled.steps(0, 6, 2);
  CHECK(same_bits(after(shape, rolled, 0), after(shape, straight, 0)));
}

// Methods that meet at barriers: an outer gradient is measured from what the learner last received, and
// after a rollback that is what it had received when the checkpoint was saved.
TEST_CASE("trainer recovery: after a rollback a learner measures from the version of its checkpoint",
          "[unit][trainer]") {
  const tape::RunShape shape = make_shape(1, 1, 8, 1);
  TrainerOptions options = make_options(shape);
  options.anchor = Anchor::kReceived;
  const auto round = [](HandTape& tape, std::uint32_t sync) {
    tape.steps(0, 2 * (sync - 1), 2);
    tape.take(sync, 0, 0);
    tape.merge(sync, 0, {0});
    tape.adopt(sync, 0, 0);
  };
  HandTape straight, rolled;
  for (HandTape* tape : {&straight, &rolled}) {
    round(*tape, 1);
    tape->save(0, 2);
    tape->save(tape::kNoLearner, 2);
  }
  round(rolled, 2);
  rolled.roll_back(0, 2);
  rolled.restore(tape::kNoLearner);
  // The undone sync's number is not used again.
  for (HandTape* tape : {&straight, &rolled}) {
    tape->steps(0, 2, 2);
    tape->take(3, 0, 0);
    tape->merge(3, 0, {0});
    tape->adopt(3, 0, 0);
  }
  Trainer one(shape, options), other(shape, options);
  play(straight, one);
  play(rolled, other);
  CHECK(same_bits(everything(other, 1), everything(one, 1)));
}

TEST_CASE("trainer recovery: without a checkpoint, or to step 0, the learner starts afresh",
          "[unit][trainer]") {
  const tape::RunShape shape = make_shape(1, 1, 8, 1);
  const LearnerState initial = after(shape, {}, 0);
  HandTape none, zero;
  none.steps(0, 0, 4);
  none.roll_back(0, 3);
  zero.steps(0, 0, 4);
  zero.save(0, 4);
  zero.roll_back(0, 0);
  CHECK(same_bits(after(shape, none, 0), initial));
  CHECK(same_bits(after(shape, zero, 0), initial));
}

TEST_CASE("trainer recovery: work that is undone before anybody reads it is not done",
          "[unit][trainer]") {
  // A learner that is taken from, then steps, then rolls back: the take must stay.
  const tape::RunShape shape = make_shape(1, 1, 8, 1);
  HandTape with, without;
  for (HandTape* tape : {&with, &without}) {
    tape->steps(0, 0, 3);
    tape->take(0, 0, 0);
    if (tape == &with) tape->steps(0, 3, 3);
    tape->roll_back(0, 0);
    tape->merge(0, 0, {0});
  }
  Trainer a(shape, make_options(shape)), b(shape, make_options(shape));
  play(with, a);
  play(without, b);
  CHECK(same_bits(everything(a, 1), everything(b, 1)));
}

TEST_CASE("trainer recovery: a copied state is the donor's when it was sent", "[unit][trainer]") {
  const tape::RunShape shape = make_shape(2, 1, 8, 1);
  HandTape donor_only, tape;
  donor_only.steps(0, 0, 4);
  const LearnerState sent = after(shape, donor_only, 0);
  tape.steps(1, 0, 2);
  tape.steps(0, 0, 4);
  tape.send(9, 0, 1);
  tape.steps(0, 4, 3);  // the donor goes on
  tape.copy(9, 0, 1);
  CHECK(same_bits(after(shape, tape, 1), sent));
  donor_only.steps(0, 4, 3);
  CHECK(same_bits(after(shape, tape, 0), after(shape, donor_only, 0)));
}

TEST_CASE("trainer recovery: from the syncer come global parameters and fresh moments",
          "[unit][trainer]") {
  const tape::RunShape shape = make_shape(2, 1, 8, 3);
  Trainer trainer(shape, make_options(shape));
  HandTape tape;
  for (const std::uint16_t m : indices(2)) tape.steps(m, 0, 4);
  for (const std::uint16_t p : indices(3)) {
    tape.take(p, p, 0);
    tape.merge(p, p, {0});
  }
  tape.send(9, tape::kNoLearner, 1);
  tape.copy(9, tape::kNoLearner, 1);
  play(tape, trainer);
  CHECK(same_bits(trainer.learner(1).parameters.span(), trainer.global_parameters().span()));
  CHECK(trainer.learner(1).inner.updates == 0);
  for (const float moment : trainer.learner(1).inner.first) REQUIRE(moment == 0.0f);
}

TEST_CASE("trainer recovery: a state that is lost on its way changes nothing", "[unit][trainer]") {
  const tape::RunShape shape = make_shape(2, 1, 8, 1);
  HandTape with, without;
  for (HandTape* tape : {&with, &without}) {
    tape->steps(0, 0, 4);
    if (tape == &with) {
      tape->send(9, 0, 1);
      tape->add(tape::StateLost{9, 0, 1, tape::LossReason::kDonorDied});
    }
    tape->steps(1, 0, 2);
  }
  CHECK(same_bits(after(shape, with, 1), after(shape, without, 1)));
}

TEST_CASE("trainer recovery: a restored syncer has the learner's parameters and no momentum",
          "[unit][trainer]") {
  const tape::RunShape shape = make_shape(1, 1, 8, 1);
  Trainer trainer(shape, make_options(shape));
  HandTape tape;
  tape.steps(0, 0, 3);
  tape.take(0, 0, 0);
  tape.merge(0, 0, {0});  // gives the fragment momentum
  tape.steps(0, 3, 2);
  tape.restore(0);
  play(tape, trainer);
  CHECK(same_bits(trainer.global_parameters().span(), trainer.learner(0).parameters.span()));
  // A merge of the learner's own unchanged parameters has delta 0: with zero momentum nothing moves.
  HandTape still;
  still.take(1, 0, 0);
  still.merge(1, 0, {0});
  play(still, trainer);
  CHECK(same_bits(trainer.global_parameters().span(), trainer.learner(0).parameters.span()));
}

TEST_CASE("trainer recovery: a restored syncer merges as one that never merged before",
          "[unit][trainer]") {
  const tape::RunShape shape = make_shape(1, 1, 8, 1);
  for (const optim::OuterKind kind : {optim::OuterKind::kNesterov, optim::OuterKind::kAdam}) {
    TrainerOptions options = make_options(shape);
    options.outer = {kind, 0.7, 0.9, 0.9, 0.95, 0.1};
    const auto global_after = [&](bool has_past) {
      HandTape tape;
      tape.steps(0, 0, 3);
      if (has_past) {
        tape.take(0, 0, 0);
        tape.merge(0, 0, {0});
      }
      tape.steps(0, 3, 2);
      tape.restore(0);
      tape.steps(0, 5, 1);
      tape.take(1, 0, 0);
      tape.merge(1, 0, {0});
      Trainer trainer(shape, options);
      play(tape, trainer);
      return trainer.global_parameters();
    };
    CHECK(same_bits(global_after(true).span(), global_after(false).span()));
  }
}

}  // namespace
}  // namespace sim::trainer

// tests/trainer/determinism_test.cpp: the same bits on any number of threads, however the tape is
// cut and whenever the graph is run.
//
// Method: one tape with four learners, lost slices, lost takes, recoveries, rollbacks and a restored
//         syncer, played in many ways.
// Teeth:  seen failing with chunks summed in another order when shared, with the edges left out from
//         take to merge, from merge to the next merge, from merge to adoption, from versions to
//         evaluation, and between a learner's own nodes, with data keyed by a stretch's first step
//         only, with steps added to a node that is closed, and without the bound on nodes.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <random>

#include "sim/trainer/trainer.h"
#include "tests/trainer/tape_fixture.h"

namespace sim::trainer {
namespace {

constexpr std::uint16_t kLearners = 4;

// 12 slots a learner in two slices of 6: chunks of 8 straddle slices and learners.
tape::RunShape faulty_shape() { return make_shape(kLearners, 2, 6, 3); }

HandTape faulty_tape(std::uint32_t rounds) {
  HandTape tape;
  for (std::uint32_t r = 0; r < rounds; ++r) {
    const std::uint16_t p = static_cast<std::uint16_t>(r % 3);
    const std::uint16_t victim = static_cast<std::uint16_t>(r % kLearners);
    if (r % 4 == 1) tape.slice(victim * 2u, tape::SliceState::kFailed);
    if (r % 4 == 3) tape.slice((victim - 2u) * 2u, tape::SliceState::kJoined);
    for (std::uint16_t m = 0; m < kLearners; ++m) tape.steps(m, 3 * r, 1 + (r + m) % 3);
    for (std::uint16_t m = 0; m < kLearners; ++m) tape.take(r, p, m);
    for (std::uint16_t m = 0; m < kLearners; ++m) tape.steps(m, 3 * r + (r + m) % 3 + 1, 1);
    if (r % 5 == 2) {
      tape.lose(r, p, 3);
      tape.merge(r, p, {0, 1, 2});
      tape.send(r, r % 2 ? tape::kNoLearner : victim, 3);
      tape.steps(victim, 3 * r + 2, 2);
      tape.copy(r, victim, 3);
    } else {
      tape.merge(r, p, {{1.0, 0, 0}, {2.5, 1, 0}, {0.5, 2, 0}, {3.0, 3, 0}});
    }
    if (r % 6 == 1) tape.save(2, r);
    if (r % 6 == 4) tape.roll_back(2, r - 3);
    if (r == 7) tape.restore(1);
    for (std::uint16_t m = 0; m < kLearners; ++m) {
      if (m != victim || r % 5 == 2) tape.adopt(r, p, m);
    }
    if (r % 3 == 0) tape.evaluate(1000 * r);
  }
  tape.mark(1);
  tape.end(2);
  return tape;
}

TrainerOptions faulty_options(std::size_t threads) {
  TrainerOptions options = with_threads(make_options(faulty_shape()), threads);
  options.mixing = 0.1;
  options.merge.kind = optim::MergeKind::kRda;
  return options;
}

struct Outcome {
  std::vector<LearnerState> states;
  std::vector<double> losses;
  std::vector<double> spreads;
};

Outcome outcome(Trainer& trainer) {
  trainer.finish();
  Outcome result{everything(trainer, static_cast<std::uint16_t>(kLearners)), {}, {}};
  for (const Evaluation& evaluation : trainer.evaluations()) result.losses.push_back(evaluation.loss);
  for (const ConvergenceRow& row : trainer.convergence().rows()) {
    result.spreads.push_back(row.replica_spread_rms);
  }
  return result;
}

bool same(const Outcome& a, const Outcome& b) {
  return same_bits(a.states, b.states) && a.losses == b.losses && a.spreads == b.spreads;
}

TEST_CASE("trainer: 1, 2 and 8 threads give the same bits through faults and recovery",
          "[unit][trainer]") {
  const tape::RunShape shape = faulty_shape();
  const HandTape tape = faulty_tape(24);
  Trainer alone(shape, faulty_options(1));
  play(tape, alone);
  const Outcome expected = outcome(alone);
  REQUIRE(expected.losses.size() == 10);
  CHECK(expected.losses.back() < alone.initial_loss());
  for (const std::size_t threads : {2, 8}) {
    for (int repeat = 0; repeat < 5; ++repeat) {
      CAPTURE(threads, repeat);
      Trainer trainer(shape, faulty_options(threads));
      play(tape, trainer);
      REQUIRE(same(outcome(trainer), expected));
    }
  }
}

TEST_CASE("trainer: threads that share one learner's step give the same bits", "[unit][trainer]") {
  tape::RunShape shape = make_shape(1, 4, 12, 1);  // 48 slots: six chunks
  shape.model_is_learner = true;
  HandTape tape;
  tape.steps(0, 0, 40);
  tape.slice(1, tape::SliceState::kFailed);
  tape.steps(0, 40, 40);
  Trainer alone(shape, make_options(shape));
  play(tape, alone);
  for (const std::size_t threads : {2, 8}) {
    CAPTURE(threads);
    Trainer trainer(shape, with_threads(make_options(shape), threads));
    play(tape, trainer);
    REQUIRE(same_bits(trainer.learner(0), alone.learner(0)));
  }
}

TEST_CASE("trainer: a transformer gives the same bits on any number of threads", "[unit][trainer]") {
  // One learner alone, whose chunks are shared, and two side by side.
  for (const std::uint16_t learners : {std::uint16_t{1}, std::uint16_t{2}}) {
    tape::RunShape shape = make_shape(learners, 2, learners == 1 ? 12 : 6, 1);
    shape.model_is_learner = learners == 1;
    HandTape tape;
    for (std::uint16_t m = 0; m < learners; ++m) tape.steps(m, 0, 10);
    TrainerOptions options = make_options(shape);
    options.learning.model = {optim::ModelKind::kTransformer, 0, 8, 0, 1, 0.0, 12, 2, 10};
    options.learning.task = {optim::TaskKind::kMarkov, 80, 8, 10, 0.0, 2.0, 16,
                             optim::ExampleForm::kTokens};
    Trainer alone(shape, options);
    play(tape, alone);
    const std::vector<LearnerState> expected = everything(alone, learners);
    for (const std::size_t threads : {2, 8}) {
      CAPTURE(learners, threads);
      Trainer trainer(shape, with_threads(options, threads));
      play(tape, trainer);
      CHECK(same_bits(everything(trainer, learners), expected));
    }
  }
}

TEST_CASE("trainer: merges that nobody adopts keep their order", "[unit][trainer]") {
  // Each merge has another lone contributor, so that only the fragment itself orders them.
  const tape::RunShape shape = make_shape(kLearners, 1, 8, 1);
  HandTape tape;
  for (std::uint16_t m = 0; m < kLearners; ++m) tape.steps(m, 0, 2u * (kLearners - m));
  for (std::uint32_t sync = 0; sync < 40; ++sync) {
    const std::uint16_t m = static_cast<std::uint16_t>(sync % kLearners);
    tape.take(sync, 0, m);
    tape.merge(sync, 0, {{1.0, m, 0}});
    tape.steps(m, 8 + sync, 1);
  }
  Trainer alone(shape, make_options(shape));
  play(tape, alone);
  Trainer trainer(shape, with_threads(make_options(shape), 8));
  play(tape, trainer);
  CHECK(same_bits(everything(trainer, kLearners), everything(alone, kLearners)));
}

TEST_CASE("trainer: stretches cut at random, and the graph run at random, give the same bits",
          "[unit][trainer][property]") {
  const tape::RunShape shape = faulty_shape();
  const HandTape tape = faulty_tape(18);
  Trainer whole(shape, faulty_options(1));
  play(tape, whole);
  const Outcome expected = outcome(whole);
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 rng(seed);
    Trainer trainer(shape, faulty_options(1 + seed % 3));
    for (tape::Fact fact : tape.facts) {
      if (fact.kind == tape::Kind::kStepsDone) {
        while (fact.steps_done.count > 1 && rng() % 2 == 0) {
          tape::Fact head = fact;
          head.steps_done.count = static_cast<std::uint32_t>(rng() % fact.steps_done.count);
          trainer.on(head);  // may be empty
          fact.steps_done.first_step += head.steps_done.count;
          fact.steps_done.schedule_step += head.steps_done.count;
          fact.steps_done.count -= head.steps_done.count;
        }
      }
      trainer.on(fact);
      if (rng() % 10 == 0) trainer.flush();
    }
    REQUIRE(same(outcome(trainer), expected));
  }
}

TEST_CASE("trainer: what waits is bounded on a long tape", "[unit][trainer]") {
  // More nodes than the trainer may gather: it runs them on its own, and evaluations appear.
  const tape::RunShape shape = make_shape(1, 1, 1, 1);
  Trainer trainer(shape, make_options(shape));
  HandTape tape;
  tape.evaluate(1);
  for (std::uint32_t sync = 0; sync < 4096; ++sync) {
    tape.take(sync, 0, 0);
    tape.merge(sync, 0, {0});
    tape.adopt(sync, 0, 0);
  }
  play(tape, trainer);
  CHECK(trainer.evaluations().size() == 1);
  CHECK(trainer.open_items() == 1);
}

}  // namespace
}  // namespace sim::trainer

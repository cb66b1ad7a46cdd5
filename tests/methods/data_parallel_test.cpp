// tests/methods/data_parallel_test.cpp: synchronous data parallel by the clock, added up by hand.
//
// Goal:   what a loss costs an elastic and a non-elastic job, second by second.
// Method: steps of one second and round durations; each test adds up the dates in its comment.
// Teeth:  seen failing with the checkpoint forgotten by a loss while it loads, with a restart that goes
//         on through a failure, with checkpoints counted from the last one's begin, and with every stop
//         going back to the checkpoint.
#include <catch2/catch.hpp>

#include "sim/methods/gradient_reduction.h"
#include "tests/methods/world_fixture.h"

namespace sim::methods {
namespace {

using Catch::Matchers::WithinAbs;
using tape::Kind;

Setup one_job() {
  Setup setup;
  setup.training.method = MethodKind::kDataParallel;
  setup.training.learners = LearnerSplit::kOne;
  setup.add_island("a", "here");
  return setup;
}

std::uint64_t steps_in(const Lived& lived) {
  std::uint64_t count = 0;
  for (const auto& fact : lived.recorder.of(Kind::kStepsDone)) count += fact.steps_done.count;
  return count;
}

// When the learner last began to step.
double stepping_since_s(const Lived& lived, std::size_t which) {
  std::vector<double> dates;
  for (const auto& fact : lived.recorder.of(Kind::kActivityChanged)) {
    if (fact.activity_changed.activity == tape::Activity::kStepping) {
      dates.push_back(base::to_seconds(fact.at));
    }
  }
  return dates.at(which);
}

TEST_CASE("data parallel: without faults nothing but steps", "[methods]") {
  const Lived lived = live(one_job());
  CHECK(steps_in(lived) == 60);
  CHECK_THAT(lived.account->at_end()->goodput.stepping, WithinAbs(1.0, 1e-12));
}

// Killed at 10.5 s: step 11 is lost half way. Downscale to 13.5; one slice steps to 19.5 (six
// steps), since the other returns at 18.7 and the step under way is finished; upscale to 21.5; 38
// whole steps fit before 60.
TEST_CASE("data parallel: elastic, a loss shrinks the batch and a return stops the job once",
          "[methods]") {
  Setup setup = one_job();
  setup.kill(tape::TargetKind::kSlice, "a/slice-2", 10'500 * kMillisecond, 8'200 * kMillisecond);
  const Lived lived = live(setup);
  CHECK(steps_in(lived) == 10 + 6 + 38);
  CHECK_THAT(stepping_since_s(lived, 1), WithinAbs(13.5, 1e-9));
  CHECK_THAT(stepping_since_s(lived, 2), WithinAbs(21.5, 1e-9));
  const auto& account = *lived.account->at_end();
  CHECK(account.merged_tokens == 48 * 4096 + 6 * 2048);
  CHECK_THAT(account.goodput.time, WithinAbs(54.0 / 60, 1e-12));
  CHECK_THAT(account.goodput.stepping, WithinAbs((48 + 6 * 0.5) / 60, 1e-12));
}

Setup checkpointed(Recovery recovery) {
  Setup setup = one_job();
  setup.training.elasticity.elastic = false;
  setup.training.elasticity.recovery = recovery;
  setup.training.checkpoint = {
      .every = 10 * kSecond, .save = kSecond, .load = 4 * kSecond, .redo = true};
  setup.kill(tape::TargetKind::kChip, "a/slice-1", 25'500 * kMillisecond, 6 * kSecond);
  return setup;
}

// Steps to 10, save to 11, steps 11-20 to 21, save to 22, steps 21-23 to 25, killed at 25.5. Repair
// to 31.5, restart to 36.5, load to 40.5, back to step 20; steps 21-30 to 50.5, save to 51.5, steps
// 31-38 to 59.5. 41 steps were done, 3 of them twice: 38 count.
TEST_CASE("data parallel: non-elastic, a loss goes back to the last checkpoint", "[methods]") {
  const Lived lived = live(checkpointed(Recovery::kCheckpoint));
  CHECK(steps_in(lived) == 41);
  const auto rollbacks = lived.recorder.of(Kind::kRolledBack);
  REQUIRE(rollbacks.size() == 1);
  CHECK(rollbacks[0].at == 40'500 * kMillisecond);
  CHECK(rollbacks[0].rolled_back.to_step == 20);
  const auto& account = *lived.account->at_end();
  CHECK_THAT(account.goodput.time, WithinAbs(38.0 / 60, 1e-12));
  CHECK(account.merged_tokens == 38 * 4096);
  CHECK(account.tokens.rolled_back == 3 * 4096);
  CHECK(lived.account->properties().violation_count() == 0);
}

// The same fault. A chip leaves its host the state of step 23, and slice 2 has it, too: restarted at
// 36.5 s, the save that is due to 37.5 s, ten steps, save to 48.5 s, ten steps, save to 59.5 s.
TEST_CASE("data parallel: what a host or a peer holds is not done again", "[methods]") {
  for (const Recovery recovery : {Recovery::kHostMemory, Recovery::kPeer}) {
    const Lived lived = live(checkpointed(recovery));
    CHECK(steps_in(lived) == 23 + 20);
    CHECK(lived.recorder.of(Kind::kRolledBack).empty());
    CHECK(lived.account->properties().violation_count() == 0);
  }
}

std::vector<std::uint32_t> rolled_back_to(const Lived& lived) {
  std::vector<std::uint32_t> steps;
  for (const auto& fact : lived.recorder.of(Kind::kRolledBack)) {
    steps.push_back(fact.rolled_back.to_step);
  }
  return steps;
}

// One slice, killed at 10.5 s for 2 s and restarted at 17.5 s; nothing was ever saved. A chip's failure
// leaves the host's copy; an island's does not, nor is there a peer, so that step 0 it is, after 4 s.
TEST_CASE("data parallel: a state that nobody holds any more begins anew", "[methods]") {
  const auto lived_after = [](tape::TargetKind kind, const char* target, Recovery recovery) {
    Setup setup = one_job();
    setup.islands.clear();
    setup.add_island("a", "here", 1, 1);
    setup.training.elasticity.recovery = recovery;
    setup.training.checkpoint = {.every = 0, .save = 0, .load = 4 * kSecond, .redo = true};
    setup.kill(kind, target, 10'500 * kMillisecond, 2 * kSecond);
    return live(setup);
  };
  const Lived kept = lived_after(tape::TargetKind::kChip, "a/slice-1", Recovery::kHostMemory);
  CHECK(rolled_back_to(kept).empty());
  CHECK(steps_in(kept) == 10 + 42);
  const Lived without_host = lived_after(tape::TargetKind::kIsland, "a", Recovery::kHostMemory);
  CHECK(rolled_back_to(without_host) == std::vector<std::uint32_t>{0});
  CHECK(steps_in(without_host) == 10 + 38);
  CHECK(without_host.account->at_end()->merged_tokens == 38 * 4096);
  const Lived no_peer = lived_after(tape::TargetKind::kChip, "a/slice-1", Recovery::kPeer);
  CHECK(rolled_back_to(no_peer) == std::vector<std::uint32_t>{0});
}

// Both islands go; a's hosts live and have the newest state if nobody stepped since. Alone, b makes
// a's copy of step 10 stale, so that its own death at 20.5 s takes the last state with it.
TEST_CASE("data parallel: a host's copy counts while it is the newest", "[methods]") {
  const auto lived_with_b_killed_at = [](Nanoseconds at) {
    Setup setup = one_job();
    setup.add_island("b", "here");
    setup.training.checkpoint = {.every = 0, .save = 0, .load = 4 * kSecond, .redo = true};
    setup.kill(tape::TargetKind::kSlice, "a/slice-1", 10'500 * kMillisecond, 20 * kSecond);
    setup.kill(tape::TargetKind::kSlice, "a/slice-2", 10'500 * kMillisecond, 20 * kSecond);
    setup.kill(tape::TargetKind::kIsland, "b", at, kNever);
    return live(setup);
  };
  CHECK(rolled_back_to(lived_with_b_killed_at(10'500 * kMillisecond)).empty());
  CHECK(rolled_back_to(lived_with_b_killed_at(20'500 * kMillisecond)) ==
        std::vector<std::uint32_t>{0});
}

// The second slice goes at 12.0, inside the downscale of 10.5 to 13.5. Restarted, it takes 12.0 to
// 15.0; absorbed, it ends as planned.
TEST_CASE("data parallel: a second hit restarts the reconfiguration or is absorbed", "[methods]") {
  Setup setup = one_job();
  setup.islands.clear();
  setup.add_island("a", "here", 1, 4);
  setup.kill(tape::TargetKind::kSlice, "a/slice-2", 10'500 * kMillisecond, kNever);
  setup.kill(tape::TargetKind::kSlice, "a/slice-3", 12'000 * kMillisecond, kNever);
  CHECK_THAT(stepping_since_s(live(setup), 1), WithinAbs(15.0, 1e-9));
  setup.training.elasticity.second_hit = SecondHit::kAbsorb;
  CHECK_THAT(stepping_since_s(live(setup), 1), WithinAbs(13.5, 1e-9));
}

// A life of exactly 10.5 s of stepping ends in step 11. At the end of its step it acts at 11 s with
// 11 steps done; at once it acts at 10.5 s with 10.
TEST_CASE("data parallel: a failure acts at once or at the end of its step", "[methods]") {
  Setup setup = one_job();
  setup.duration = 12 * kSecond;
  const failure_models::DistributionOptions never{failure_models::Law::kConstant, 1e6, 0, 0, 0};
  setup.failures.push_back({"f", tape::TargetKind::kSlice, "a/slice-1",
                            {failure_models::Law::kConstant, 10.5, 0, 0, 0}, true, never,
                            failure_models::Age::kNew, 0, chaos::Clock::kStepping});
  const auto struck_at = [](const Lived& lived) {
    return base::to_seconds(lived.recorder.of(Kind::kFaultStarted).at(0).at);
  };
  Lived lived = live(setup);
  CHECK_THAT(struck_at(lived), WithinAbs(10.5, 1e-9));
  CHECK(steps_in(lived) == 10);
  setup.training.elasticity.failure_acts = FailureActs::kStepEnd;
  lived = live(setup);
  CHECK_THAT(struck_at(lived), WithinAbs(11.0, 1e-9));
  CHECK(steps_in(lived) == 11);
}

// All of the job goes at 25.5 s; both slices are back at 27.5 and restarted at 32.5 s. Loading takes 4 s;
// at 34.5 s, under way, slice 2 goes for good: downscale to 37.5 s, and the checkpoint (of step 20) is
// loaded all the same, to 41.5 s. 18 steps of half a batch, but for a save of 1 s at 51.5 s: 17.
TEST_CASE("data parallel: a loss while the checkpoint loads does not spare the rollback",
          "[methods]") {
  Setup setup = one_job();
  setup.training.checkpoint = {
      .every = 10 * kSecond, .save = kSecond, .load = 4 * kSecond, .redo = true};
  setup.kill(tape::TargetKind::kIsland, "a", 25'500 * kMillisecond, 2 * kSecond);
  setup.kill(tape::TargetKind::kSlice, "a/slice-2", 34'500 * kMillisecond, kNever);
  const Lived lived = live(setup);
  const auto rollbacks = lived.recorder.of(Kind::kRolledBack);
  REQUIRE(rollbacks.size() == 1);
  CHECK(rollbacks[0].at == 41'500 * kMillisecond);
  CHECK(rollbacks[0].rolled_back.to_step == 20);
  CHECK(steps_in(lived) == 23 + 17);
  CHECK(lived.account->at_end()->merged_tokens == 20 * 4096 + 17 * 2048);
  CHECK(lived.account->properties().violation_count() == 0);
}

// The slice is back at 12.5 s and the program starts until 17.5 s. It goes again at 15 s for a second, so
// the start is void: again from 16 to 21 s.
TEST_CASE("data parallel: a failure during a restart restarts it", "[methods]") {
  for (const bool elastic : {true, false}) {
    Setup setup = one_job();
    setup.islands.clear();
    setup.add_island("a", "here", 1, 1);
    setup.training.elasticity.elastic = elastic;
    setup.kill(tape::TargetKind::kSlice, "a/slice-1", 10'500 * kMillisecond, 2 * kSecond);
    setup.kill(tape::TargetKind::kSlice, "a/slice-1", 15 * kSecond, kSecond);
    CHECK_THAT(stepping_since_s(live(setup), 1), WithinAbs(21.0, 1e-9));
  }
}

// A run without marks on tokens asks for 2^32 - 1 steps at once; of 10 s each they would end after the
// end of time.
TEST_CASE("data parallel: a stretch without an end in sight is no overflow", "[methods]") {
  Setup setup = one_job();
  setup.training.step_time = 10 * kSecond;
  CHECK(steps_in(live(setup)) == 6);
}

// 8 s of reduction against a backward pass of 6 s in 64 buckets: 8 - 6 (1 - 1/64) = 2.09375 are
// exposed. A reduction of 1 s hides but for its last bucket, 1/64 s.
TEST_CASE("data parallel: the reduction overlaps the backward pass", "[methods]") {
  CHECK(exposed_reduction(8 * kSecond, 9 * kSecond, 64) == 2'093'750'000);
  CHECK(exposed_reduction(kSecond, 9 * kSecond, 64) == 15'625'000);
  CHECK(exposed_reduction(0, 9 * kSecond, 64) == 0);
}

}  // namespace
}  // namespace sim::methods

// tests/chaos/swarm_test.cpp: random schedules of overlapping faults against the laws of every run.
//
// Goal:   laws 3, 4 and 5 (the ledgers throw when they do not close), law 6 (Properties) and law 8
//         (when the faults are over, all is as it was) on worlds with a real network.
// Method: each seed draws twenty faults that overlap, on a coarse grid of dates; the run goes on for
//         80 s after the last one.
// Teeth:  seen failing with a syncer restored from a learner where none had a state, with the newest
//         settled step going back, with learners that wait not telling a lost report again, with a
//         slice released by the first of its faults that ends, with a learner that copied a peer giving up
//         each merge without which it has no say, and with one that others do not wait for staying a
//         period behind (seed 136).
#include <catch2/catch.hpp>

#include "tests/chaos/random_faults.h"
#include "tests/engine/run_forked.h"

namespace sim::chaos {
namespace {

using methods::Adoption;
using methods::GraceKind;
using methods::LatePolicy;
using methods::LearnerSplit;
using methods::LossPolicy;
using methods::MethodKind;
using methods::OnSyncerKill;
using methods::SecondHit;
using methods::SyncerPlacement;

// Bits of the seed choose the setting, so that few seeds visit many.
Setup decoupled(std::uint64_t seed) {
  Setup setup = triangle();
  setup.seed = seed;
  auto& t = setup.training;
  t.syncer.on_kill = seed & 2 ? OnSyncerKill::kLose : OnSyncerKill::kPause;
  t.late = seed & 4 ? LatePolicy::kMerge : LatePolicy::kSkip;
  t.elasticity.elastic = (seed & 8) == 0;
  t.elasticity.second_hit = seed & 16 ? SecondHit::kAbsorb : SecondHit::kRestart;
  t.elasticity.detection = seed & 1 ? base::kSecond / 2 : 0;
  t.quorum = 1 + static_cast<std::int64_t>(seed % 3);
  // Alone a quorum of one lets learners out of phase overwrite each other for good (Table 5).
  t.grace = t.quorum == 1 || seed & 1 ? GraceKind::kAdaptive : GraceKind::kNone;
  t.overlap_steps = 2;
  t.fragments = 4;
  t.sync_every = 4;
  setup.spread.step_sd = seed % 5 == 0 ? 0.1 : 0.0;
  if (seed % 7 == 3) {
    t.syncer.placement = SyncerPlacement::kCentral;
    t.syncer.region = "r1";
  }
  return setup;
}

Setup synchronous(std::uint64_t seed) {
  Setup setup = triangle();
  setup.seed = seed;
  setup.training.method = MethodKind::kDataParallel;
  setup.training.learners = LearnerSplit::kOne;
  auto& e = setup.training.elasticity;
  e.elastic = (seed & 1) == 0;
  e.join_state = (seed & 2) == 0;
  e.second_hit = seed & 4 ? SecondHit::kAbsorb : SecondHit::kRestart;
  setup.training.checkpoint = {.every = 15 * base::kSecond,
                               .save = base::kSecond,
                               .load = 2 * base::kSecond,
                               .redo = (seed & 8) == 0};
  return setup;
}

// Two settings of each policy, fragments or the whole model, wide and narrow links' worth of waiting.
Setup at_barriers(std::uint64_t seed) {
  Setup setup = triangle();
  setup.seed = seed;
  auto& t = setup.training;
  t.method = seed & 1 ? MethodKind::kDiloco : MethodKind::kStreamingDiloco;
  t.fragments = seed & 1 ? 1 : 4;
  t.sync_every = 4 + static_cast<std::int64_t>(seed % 3);
  t.overlap_steps = seed & 1 ? 0 : static_cast<std::int64_t>(seed % 3);
  t.first_take = static_cast<std::int64_t>(seed % 4);
  t.token_weights = false;
  constexpr LossPolicy kLosses[] = {LossPolicy::kWait, LossPolicy::kSkip, LossPolicy::kStale,
                                    LossPolicy::kDiscard};
  constexpr methods::Recovery kRecoveries[] = {
      methods::Recovery::kHostMemory, methods::Recovery::kPeer, methods::Recovery::kCheckpoint};
  constexpr LatePolicy kLates[] = {LatePolicy::kBlock, LatePolicy::kSkip, LatePolicy::kStale};
  t.on_loss = kLosses[seed / 2 % 4];
  t.elasticity.recovery = kRecoveries[seed / 3 % 3];
  t.elasticity.timeout = seed % 7 < 2 ? 2 * base::kSecond : 0;
  t.late = t.overlap_steps == 0 ? LatePolicy::kBlock : kLates[seed / 6 % 3];
  t.elasticity.elastic = (seed & 8) == 0;
  t.elasticity.second_hit = seed & 16 ? SecondHit::kAbsorb : SecondHit::kRestart;
  t.elasticity.detection = seed & 4 ? (seed % 5 + 1) * base::kSecond / 2 : 0;
  t.checkpoint = {.every = seed & 2 ? 10 * base::kSecond : 0,
                  .save = seed & 4 ? base::kSecond : 0,
                  .load = base::kSecond,
                  .redo = seed % 5 != 0};
  t.wire = seed & 1 ? optim::WireFormat::kFp32 : optim::WireFormat::kInt4;
  setup.spread.step_sd = seed % 5 == 0 ? 0.1 : 0.0;
  return setup;
}

void check_swarm(Setup (*setting)(std::uint64_t), std::uint64_t first, std::uint64_t last) {
  std::uint64_t new_lives = 0, lost_takes = 0;
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    CAPTURE(seed);
    const Verdict verdict = engine::run_forked([&] {
      Setup setup = setting(seed);
      add_random_faults(seed, 20, setup);
      return judge(live(setup), setup);
    });
    INFO(verdict.first_violation);
    CHECK(verdict.violations == 0);
    CHECK(verdict.faults == 20);
    CHECK_FALSE(verdict.stuck);
    CHECK(verdict.network_whole);
    CHECK(verdict.all_joined);
    CHECK(verdict.all_step);
    CHECK(verdict.all_contribute);
    new_lives += verdict.new_lives;
    lost_takes += verdict.lost_takes;
  }
  CHECK((setting != decoupled || (new_lives > 20 && lost_takes > 20)));
}

TEST_CASE("swarm: decoupled diloco keeps the laws under twenty overlapping faults",
          "[chaos][slow]") {
  check_swarm(decoupled, 1, 40);
}

TEST_CASE("swarm: data parallel keeps the laws under twenty overlapping faults", "[chaos]") {
  check_swarm(synchronous, 1, 40);
}

TEST_CASE("swarm: learners that meet at barriers keep the laws under every policy", "[chaos]") {
  check_swarm(at_barriers, 1, 220);
}

TEST_CASE("swarm: pinned adoption finds its way back after faults", "[chaos][slow]") {
  check_swarm(
      [](std::uint64_t seed) {
        Setup setup = decoupled(seed);
        setup.training.adoption = Adoption::kPinned;
        setup.training.grace = GraceKind::kNone;
        setup.training.quorum = seed % 2 == 0 ? 4 : 1;
        return setup;
      },
      1, 20);
}

}  // namespace
}  // namespace sim::chaos

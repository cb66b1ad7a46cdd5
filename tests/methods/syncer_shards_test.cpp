// tests/methods/syncer_shards_test.cpp: what the death of a syncer costs, beside each learner or central.
//
// Goal:   a shard copies back what its kind of death took from it; merges go on without it, or stop
//         where it is the only one; a lost global state is built anew from a learner.
// Method: fragments of 500,000 parameters, 8 bytes each at the syncer; which merges a shard misses
//         follows from the dates.
// Teeth:  seen failing with `lose` copying the missed fragments only, with versions not restarted by a
//         new epoch, with the death of a copy's source ignored, with a death forgotten once it is
//         over, and with a lead region that is not found anew when a shard dies.
#include <catch2/catch.hpp>

#include "tests/methods/forked_world.h"

namespace sim::methods {
namespace {

using tape::Kind;
using tape::TargetKind;

// Fragment 1 is due at steps 10, 30, 50, fragment 0 at 20, 40, 60. Both learners are waited for.
Setup two_regions(OnSyncerKill on_kill) {
  Setup setup;
  setup.use_network(2);
  setup.add_island("a", "r0");
  setup.add_island("b", "r1");
  setup.training.sync_every = 20;
  setup.training.grace = GraceKind::kAdaptive;
  setup.training.syncer.on_kill = on_kill;
  return setup;
}

std::vector<std::int64_t> recovery_bytes(const Lived& lived) {
  std::vector<std::int64_t> bytes;
  for (const auto& fact : lived.recorder.of(Kind::kTransferStarted)) {
    if (fact.transfer_started.traffic != tape::TrafficClass::kRecovery) continue;
    bytes.push_back(fact.transfer_started.bytes);
  }
  return bytes;
}

std::vector<std::size_t> contributor_counts(const Lived& lived) {
  std::vector<std::size_t> counts;
  for (const auto& contributors : lived.recorder.contributors) counts.push_back(contributors.size());
  return counts;
}

std::uint32_t steps_of(const Lived& lived, std::uint16_t learner) {
  std::uint32_t steps = 0;
  for (const auto& fact : lived.recorder.of(Kind::kStepsDone)) {
    if (fact.steps_done.learner == learner) steps += fact.steps_done.count;
  }
  return steps;
}

// b's shard is away from 15 to 25 s and misses the merge of step 20: one fragment, 4 MB. That merge
// holds a alone; those at 10, 30, 40 and 50 s hold both.
TEST_CASE("syncer: a paused shard copies the fragments that it missed", "[methods]") {
  Setup setup = two_regions(OnSyncerKill::kPause);
  setup.kill(TargetKind::kSyncer, "b", 15 * kSecond, 10 * kSecond);
  const Lived lived = live_forked(setup);
  CHECK(recovery_bytes(lived) == std::vector<std::int64_t>{4'000'000});
  CHECK(contributor_counts(lived) == std::vector<std::size_t>{2, 1, 2, 2, 2});
  CHECK(steps_of(lived, 0) == 60);
  CHECK(steps_of(lived, 1) == 60);
  CHECK(lived.account->properties().violation_count() == 0);
}

TEST_CASE("syncer: a shard that lost its memory copies everything", "[methods]") {
  Setup setup = two_regions(OnSyncerKill::kLose);
  setup.kill(TargetKind::kSyncer, "b", 15 * kSecond, 10 * kSecond);
  const Lived lived = live_forked(setup);
  CHECK(recovery_bytes(lived) == std::vector<std::int64_t>{8'000'000});
  CHECK(lived.recorder.of(Kind::kGlobalRestored).empty());
}

// Both shards reach both learners, so r0, the first in the file, leads; r1 does while a's shard is away,
// from 15 s to the end of its copy at 25.4 s. A step of 1 s ends before a fault of its date strikes.
TEST_CASE("syncer: reports go to a region whose shard is there", "[methods]") {
  Setup setup = two_regions(OnSyncerKill::kPause);
  setup.kill(TargetKind::kSyncer, "a", 15 * kSecond, 10 * kSecond);
  const Lived lived = live_forked(setup);
  std::size_t reports = 0;
  for (const auto& fact : lived.recorder.of(Kind::kTransferStarted)) {
    if (fact.transfer_started.traffic != tape::TrafficClass::kControl) continue;
    const bool away = fact.at > 15 * kSecond && fact.at <= 25 * kSecond;
    CAPTURE(fact.at);
    CHECK(fact.transfer_started.target_region == (away ? 1 : 0));
    ++reports;
  }
  CHECK(reports == 2 * 60);
}

// b's shard copies 8 MB from 25 s on (0.81 s); a's dies at 25.4 s for 1 s. None is current then: b's,
// empty, takes a learner's parameters, 4 MB, and a's copies all of it from there.
TEST_CASE("syncer: a copy whose source dies under way is not taken for whole", "[methods]") {
  Setup setup = two_regions(OnSyncerKill::kLose);
  setup.kill(TargetKind::kSyncer, "b", 15 * kSecond, 10 * kSecond);
  setup.kill(TargetKind::kSyncer, "a", 25'400 * kMillisecond, kSecond);
  const Lived lived = live_forked(setup);
  CHECK(recovery_bytes(lived) == std::vector<std::int64_t>{8'000'000, 4'000'000, 8'000'000});
  const auto restored = lived.recorder.of(Kind::kGlobalRestored);
  REQUIRE(restored.size() == 1);
  CHECK(restored[0].at < 26'400 * kMillisecond);
  CHECK(lived.account->properties().violation_count() == 0);
}

// Both shards die at 25 s, with the merge of step 20 done (fragments 1 and 0 at version 1). The first
// back, at 28 s, takes learner a, and versions count from 1 again in epoch 2.
TEST_CASE("syncer: when every shard lost its memory a new epoch begins", "[methods]") {
  Setup setup = two_regions(OnSyncerKill::kLose);
  setup.kill(TargetKind::kSyncer, "a", 25 * kSecond, 3 * kSecond);
  setup.kill(TargetKind::kSyncer, "b", 25 * kSecond, 4 * kSecond);
  const Lived lived = live_forked(setup);
  const auto restored = lived.recorder.of(Kind::kGlobalRestored);
  REQUIRE(restored.size() == 1);
  CHECK(restored[0].global_restored.learner == 0);
  CHECK(restored[0].global_restored.epoch == 2);
  const auto merges = lived.recorder.of(Kind::kFragmentMerged);
  REQUIRE(merges.size() == 5);
  for (std::size_t i = 0; i < merges.size(); ++i) {
    CHECK(merges[i].fragment_merged.epoch == (i < 2 ? 1 : 2));
    CHECK(merges[i].fragment_merged.version == (i < 2 ? 1 : (i - 2) / 2 + 1));
  }
  // All adopt the new epoch's first versions, although they held higher or equal ones before.
  std::size_t adopted = 0;
  for (const auto& fact : lived.recorder.of(Kind::kFragmentAdopted)) {
    adopted += fact.fragment_adopted.epoch == 2;
  }
  CHECK(adopted == 2 * 3);
  CHECK(lived.account->properties().violation_count() == 0);
}

// A paused pair holds the global state between them: no copy from a learner, no new epoch.
TEST_CASE("syncer: when every shard paused the last merge goes on", "[methods]") {
  Setup setup = two_regions(OnSyncerKill::kPause);
  setup.kill(TargetKind::kSyncer, "a", 25 * kSecond, 3 * kSecond);
  setup.kill(TargetKind::kSyncer, "b", 25 * kSecond, 4 * kSecond);
  const Lived lived = live_forked(setup);
  CHECK(lived.recorder.of(Kind::kGlobalRestored).empty());
  CHECK(lived.recorder.of(Kind::kFragmentMerged).size() == 5);
  CHECK(lived.account->properties().violation_count() == 0);
}

Setup central(OnSyncerKill on_kill) {
  Setup setup = two_regions(on_kill);
  setup.training.sync_every = 2;
  setup.training.syncer.placement = SyncerPlacement::kCentral;
  setup.training.syncer.region = "r1";
  setup.kill(TargetKind::kSyncer, "central", 10'500 * kMillisecond, 10 * kSecond);
  return setup;
}

TEST_CASE("syncer: while the central one is away merges stop, learners do not", "[methods]") {
  const Lived lived = live_forked(central(OnSyncerKill::kPause));
  std::size_t after = 0;
  for (const auto& fact : lived.recorder.of(Kind::kFragmentMerged)) {
    CHECK((fact.at <= 10'500 * kMillisecond || fact.at >= 20'500 * kMillisecond));
    after += fact.at > 20'500 * kMillisecond;
  }
  CHECK(after >= 37);
  CHECK(steps_of(lived, 0) == 60);
  CHECK(steps_of(lived, 1) == 60);
  CHECK(lived.recorder.of(Kind::kGlobalRestored).empty());
  CHECK(lived.account->properties().violation_count() == 0);
}

// Both learners stand at step 20 when it is back: the first in the file gives, 2 MB over the link.
TEST_CASE("syncer: a central one that lost its memory takes the furthest learner", "[methods]") {
  const Lived lived = live_forked(central(OnSyncerKill::kLose));
  const auto restored = lived.recorder.of(Kind::kGlobalRestored);
  REQUIRE(restored.size() == 1);
  CHECK(restored[0].at >= 20'500 * kMillisecond + 210 * kMillisecond);
  CHECK(restored[0].global_restored.learner == 0);
  CHECK(recovery_bytes(lived) == std::vector<std::int64_t>{4'000'000});
  std::array<std::uint32_t, 2> first{};
  for (const auto& fact : lived.recorder.of(Kind::kFragmentMerged)) {
    const auto& merged = fact.fragment_merged;
    if (merged.epoch == 2 && first[merged.fragment] == 0) first[merged.fragment] = merged.version;
  }
  CHECK(first == std::array<std::uint32_t, 2>{1, 1});
  CHECK(lived.account->properties().violation_count() == 0);
}

// 1 MB from each learner at 2.5 MB/s: 0.4 s. The syncer goes and comes back while they are under way:
// what it was given is gone with it. Values of two bytes, so that broadcasts take no longer.
TEST_CASE("syncer: a death that is over before the merge still costs the merge", "[methods]") {
  Setup setup = central(OnSyncerKill::kPause);
  setup.use_network(2, 2.5e6);
  setup.model.syncer_state_bytes = 4;
  setup.faults.clear();
  setup.kill(TargetKind::kSyncer, "central", 20'100 * kMillisecond, 100 * kMillisecond);
  const Lived lived = live_forked(setup);
  const auto lost = lived.recorder.of(Kind::kFragmentLost);
  REQUIRE(lost.size() == 2);
  for (const auto& fact : lost) {
    CHECK(fact.fragment_lost.reason == tape::LossReason::kSyncerDied);
  }
  CHECK(lived.account->properties().violation_count() == 0);
}

}  // namespace
}  // namespace sim::methods

// tests/chaos/injector_test.cpp: the same faults for every arm, and overlapping ones that compose.
//
// Goal:   law 2 (physical faults are drawn for the physical fleet) and law 8 for slices, by the clock.
// Method: the FaultStarted facts of runs that must share them, compared to the nanosecond; two faults
//         on one slice in every order of their ends.
// Teeth:  seen failing with streams named by running index (more islands), and with a slice released by
//         the first end (faults that touch); a place whose clock never runs, a slice that ages while
//         its island is held, and a missing syncer struck as shard 0.
#include <catch2/catch.hpp>

#include "tests/methods/world_fixture.h"

namespace sim::chaos {
namespace {

using namespace sim::methods;
using tape::FaultKind;
using tape::Kind;
using tape::TargetKind;

const failure_models::DistributionOptions kLife{failure_models::Law::kExponential, 400, 0, 0, 0};
const failure_models::DistributionOptions kRepair{failure_models::Law::kExponential, 20, 0, 0, 0};

FailureOptions failing(TargetKind target, bool per_slice, failure_models::Law law) {
  failure_models::DistributionOptions life = kLife;
  life.law = law;
  life.shape = 0.7;
  return {std::string("f") + std::to_string(static_cast<int>(target)), target, "", life, per_slice,
          kRepair, failure_models::Age::kEquilibrium, 0, Clock::kWall};
}

Setup fleet(MethodKind method, std::size_t islands) {
  Setup setup;
  setup.training.method = method;
  if (method == MethodKind::kDataParallel) setup.training.learners = LearnerSplit::kOne;
  for (std::size_t i = 0; i < islands; ++i) setup.add_island("w" + std::to_string(i), "here");
  setup.failures = {failing(TargetKind::kChip, false, failure_models::Law::kExponential),
                    failing(TargetKind::kSlice, true, failure_models::Law::kWeibull),
                    failing(TargetKind::kIsland, true, failure_models::Law::kExponential)};
  setup.duration = 600 * kSecond;
  return setup;
}

struct Struck {
  Nanoseconds at, lasts;
  TargetKind kind;
  std::uint32_t target;
  auto operator<=>(const Struck&) const = default;
};

// Faults of the first islands (two slices each).
std::vector<Struck> struck(const Lived& lived, std::uint32_t first_islands) {
  std::vector<Struck> found;
  for (const auto& fact : lived.recorder.of(Kind::kFaultStarted)) {
    const auto& f = fact.fault_started;
    const bool island = f.target_kind == TargetKind::kIsland;
    if (f.target >= (island ? first_islands : 2 * first_islands)) continue;
    found.push_back({fact.at, f.lasts, f.target_kind, f.target});
  }
  return found;
}

TEST_CASE("injector: two arms meet the same faults, to the nanosecond", "[chaos]") {
  const auto one = struck(live(fleet(MethodKind::kDecoupledDiloco, 3)), 3);
  const auto other = struck(live(fleet(MethodKind::kDataParallel, 3)), 3);
  REQUIRE(one.size() > 50);  // 48 chips at 600 s / 400 s alone make 72
  CHECK(one == other);
}

TEST_CASE("injector: more islands move no fault of the first ones", "[chaos]") {
  const auto few = struck(live(fleet(MethodKind::kDecoupledDiloco, 3)), 3);
  const auto many = struck(live(fleet(MethodKind::kDecoupledDiloco, 6)), 3);
  CHECK(few == many);
  Setup other_seed = fleet(MethodKind::kDecoupledDiloco, 3);
  other_seed.seed = 2;
  CHECK(struck(live(other_seed), 3) != few);
}

// A syncer is no physical thing: drawn faults of it are marked, and named after its learner.
TEST_CASE("injector: drawn faults of syncers are marked as relative to the arm", "[chaos]") {
  Setup setup = fleet(MethodKind::kDecoupledDiloco, 2);
  setup.failures = {failing(TargetKind::kSyncer, true, failure_models::Law::kExponential)};
  setup.failures[0].only = "w1";
  const auto faults = live(setup).recorder.of(Kind::kFaultStarted);
  REQUIRE(!faults.empty());
  for (const auto& fact : faults) {
    CHECK(fact.fault_started.target == 1);
    CHECK(fact.fault_started.arm_relative == 1);
  }
  setup.training.method = MethodKind::kDataParallel;
  setup.training.learners = LearnerSplit::kOne;
  setup.kill(TargetKind::kSyncer, "w1", kSecond, kSecond);  // nothing to hit, and no error
  CHECK(live(setup).account->at_end()->goodput.time == 1.0);
}

// Slice 1 is held by its chip and by its island; whichever ends last, at 20 s, gives it back. Slice 2
// only by the island.
TEST_CASE("injector: a slice is back when the last fault that holds it ends", "[chaos]") {
  for (const bool chip_longer : {true, false}) {
    for (const bool chip_first : {true, false}) {
      Setup setup;
      setup.add_island("a", "here");
      setup.add_island("b", "here");
      const Nanoseconds chip_at = (chip_first ? 5 : 6) * kSecond;
      const Nanoseconds island_at = (chip_first ? 6 : 5) * kSecond;
      const Nanoseconds chip_end = (chip_longer ? 20 : 12) * kSecond;
      const Nanoseconds island_end = (chip_longer ? 12 : 20) * kSecond;
      setup.kill(TargetKind::kChip, "b/slice-1", chip_at, chip_end - chip_at);
      setup.kill(TargetKind::kIsland, "b", island_at, island_end - island_at);
      std::vector<Nanoseconds> back(4, 0);
      std::vector<int> lost(4, 0);
      const Lived lived = live(setup);
      for (const auto& fact : lived.recorder.of(Kind::kSliceChanged)) {
        const auto& change = fact.slice_changed;
        if (change.state == tape::SliceState::kWaiting) back[change.slice] = fact.at;
        lost[change.slice] += change.state == tape::SliceState::kFailed;
      }
      CHECK(back == std::vector<Nanoseconds>{0, 0, 20 * kSecond, island_end});
      CHECK(lost == std::vector<int>{0, 0, 1, 1});
    }
  }
}

// One fault ends at the date at which the next begins: the slice never comes back between them.
TEST_CASE("injector: faults that touch hold without a gap", "[chaos]") {
  Setup setup;
  setup.add_island("a", "here");
  setup.kill(TargetKind::kSlice, "a/slice-1", 5 * kSecond, 5 * kSecond);
  setup.kill(TargetKind::kSlice, "a/slice-1", 10 * kSecond, 5 * kSecond);
  const auto changes = live(setup).recorder.of(Kind::kSliceChanged);
  REQUIRE(changes.size() >= 2);
  CHECK(changes[0].at == 5 * kSecond);
  CHECK(changes[1].at == 15 * kSecond);
}

// Dates of a constant life of 20 s and a repair of 2 s, from new, on what only=`only` names.
std::vector<Nanoseconds> dates(Setup setup, TargetKind target, Clock clock, const std::string& only) {
  FailureOptions failure = failing(target, true, failure_models::Law::kConstant);
  failure.life.mean_s = 20;
  failure.repair = {failure_models::Law::kConstant, 2, 0, 0, 0};
  failure.age = failure_models::Age::kNew;
  failure.clock = clock;
  failure.only = only;
  setup.failures = {failure};
  std::vector<Nanoseconds> found;
  for (const auto& fact : live(setup).recorder.of(Kind::kFaultStarted)) {
    if (fact.fault_started.scripted == 0) found.push_back(fact.at / kSecond);
  }
  return found;
}

Setup two_islands(MethodKind method) {
  Setup setup = fleet(method, 2);
  setup.failures.clear();
  setup.duration = 75 * kSecond;
  return setup;
}

// By the wall at 20, 40, 60. By the time up 2 s later after each repair: 20, 42, 64. A fault of the island
// from 30 s to 41 s holds its slices too: the second life has 8 s done at 30 s (22 to 30) and 12 s to go
// from 41 s: 53; the next would be 53 + 2 + 20 = 75. A fault of a slice does not hold its island.
TEST_CASE("injector: by the uptime clock a unit ages while no fault holds it, in every arm", "[chaos]") {
  for (const MethodKind method : {MethodKind::kDecoupledDiloco, MethodKind::kDataParallel}) {
    Setup setup = two_islands(method);
    setup.duration = 74 * kSecond;
    CHECK(dates(setup, TargetKind::kIsland, Clock::kWall, "w1") == std::vector<Nanoseconds>{20, 40, 60});
    CHECK(dates(setup, TargetKind::kIsland, Clock::kUptime, "w1") == std::vector<Nanoseconds>{20, 42, 64});
    setup.kill(TargetKind::kSlice, "w1/slice-2", 30 * kSecond, 11 * kSecond);
    CHECK(dates(setup, TargetKind::kIsland, Clock::kUptime, "w1") == std::vector<Nanoseconds>{20, 42, 64});
    CHECK(dates(setup, TargetKind::kSlice, Clock::kUptime, "w1/slice-1") ==
          std::vector<Nanoseconds>{20, 42, 64});
    setup.kill(TargetKind::kIsland, "w1", 30 * kSecond, 11 * kSecond);
    CHECK(dates(setup, TargetKind::kSlice, Clock::kUptime, "w1/slice-1") == std::vector<Nanoseconds>{20, 53});
    setup.faults.back() = setup.faults.front();
    setup.faults.back().target_kind = TargetKind::kRegion;
    setup.faults.back().target = "here";
    CHECK(dates(setup, TargetKind::kIsland, Clock::kUptime, "w1") == std::vector<Nanoseconds>{20, 53});
  }
}

// Each of two learners of two slices stops 3 s when a slice goes and 2 s when it is back. A fault of one
// slice of w1 at 10 s and its end at 15 s stop w1 until 13 s and from 15 s to 17 s: 5 s in which w1 does
// not age, and the region, where w0 goes on, does. An island that is not used never does.
TEST_CASE("injector: by the stepping clock a target ages while a learner steps on some of it", "[chaos]") {
  Setup setup = two_islands(MethodKind::kDecoupledDiloco);
  setup.duration = 28 * kSecond;
  CHECK(dates(setup, TargetKind::kIsland, Clock::kStepping, "w1") == std::vector<Nanoseconds>{20});
  setup.kill(TargetKind::kSlice, "w1/slice-2", 10 * kSecond, 5 * kSecond);
  CHECK(dates(setup, TargetKind::kIsland, Clock::kStepping, "w1") == std::vector<Nanoseconds>{25});
  CHECK(dates(setup, TargetKind::kRegion, Clock::kStepping, "here") == std::vector<Nanoseconds>{20});
  setup.training.use = {"island:w0"};
  CHECK(dates(setup, TargetKind::kIsland, Clock::kStepping, "w1").empty());
  CHECK(dates(setup, TargetKind::kIsland, Clock::kStepping, "w0") == std::vector<Nanoseconds>{20});
}

TEST_CASE("injector: a fault of a syncer that the arm does not have strikes nothing", "[chaos]") {
  Setup setup = two_islands(MethodKind::kDecoupledDiloco);
  for (const char* name : {"central", "learner-7", "w9"}) setup.kill(TargetKind::kSyncer, name, kSecond, kSecond);
  setup.kill(TargetKind::kSyncer, "w1", 2 * kSecond, kSecond);
  const auto faults = live(setup).recorder.of(Kind::kFaultStarted);
  REQUIRE(faults.size() == 1);
  CHECK(faults[0].at == 2 * kSecond);
  CHECK(faults[0].fault_started.target == 1);
}

}  // namespace
}  // namespace sim::chaos

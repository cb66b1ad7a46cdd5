// tests/chaos/fed_back_test.cpp: the faults that a run wrote, fed back, make the same run.
//
// Goal:   faults.csv says all that a fault was: date, length, target, whose it is.
// Method: random schedules beside drawn failures of every target and clock; the run's own faults.csv in
//         their place gives the same facts, so the same trace hash.
// Teeth:  seen failing with scripted faults read back as drawn ones.
#include <catch2/catch.hpp>

#include <sstream>

#include "sim/base/diagnostic.h"
#include "sim/report/faults_csv.h"
#include "sim/scenario/fault_file.h"
#include "tests/chaos/random_faults.h"
#include "tests/engine/run_forked.h"

namespace sim::chaos {
namespace {

using failure_models::Age;
using failure_models::Law;
using methods::MethodKind;

// The text of a run's faults and the hash of its trace, in a form that goes through a pipe.
struct Written {
  std::uint64_t trace_hash, faults;
  char csv[1 << 16];
};

Written written(const Setup& setup) {
  return engine::run_forked([&setup] {
    const methods::Lived lived = live(setup);
    std::ostringstream csv;
    report::write_faults_csv(lived.account->faults(), lived.fleet->shape, csv);
    Written result{lived.trace_hash, lived.account->faults().met_count(), {}};
    std::snprintf(result.csv, sizeof result.csv, "%s", csv.str().c_str());
    return result;
  });
}

FailureOptions drawn(tape::TargetKind target, Clock clock, double mean_s) {
  return {"f" + std::to_string(static_cast<int>(target)), target, "", {Law::kExponential, mean_s, 0, 0, 0},
          true, {Law::kLognormal, 3, 0, 0, 1}, Age::kEquilibrium, 0, clock};
}

Setup random_setup(std::uint64_t seed) {
  Setup setup = triangle();
  setup.seed = seed;
  setup.training.overlap_steps = 1;
  if (seed % 3 == 1) {
    setup.training.syncer.placement = methods::SyncerPlacement::kCentral;
    setup.training.syncer.region = "r1";
  }
  if (seed % 3 == 2) {
    setup.training.method = MethodKind::kDataParallel;
    setup.training.learners = methods::LearnerSplit::kOne;
  }
  if (seed % 2 == 1) setup.training.elasticity.failure_acts = methods::FailureActs::kStepEnd;
  setup.failures = {drawn(tape::TargetKind::kSlice, Clock::kStepping, 100),
                    drawn(tape::TargetKind::kIsland, Clock::kUptime, 100),
                    drawn(tape::TargetKind::kRegion, Clock::kStepping, 200),
                    drawn(tape::TargetKind::kLink, Clock::kWall, 100)};
  add_random_faults(seed, 10, setup);
  return setup;
}

TEST_CASE("faults fed back: the same trace, whatever drew them", "[chaos]") {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    INFO("seed " << seed);
    Setup setup = random_setup(seed);
    const Written first = written(setup);
    base::Problems problems;
    setup.failures.clear();
    setup.faults = scenario::parse_faults(first.csv, "faults.csv", problems);
    CHECK(base::format(problems.list()) == "");
    CHECK(first.faults > 15);
    const Written second = written(setup);
    CHECK(second.trace_hash == first.trace_hash);
    CHECK(std::string(second.csv) == first.csv);
  }
}

}  // namespace
}  // namespace sim::chaos

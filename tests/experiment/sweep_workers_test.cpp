// tests/experiment/sweep_workers_test.cpp: runs that share a process, and processes that die.
//
// Teeth:  seen failing with a run that dies in a used process called failed at once or left out, and with
//         the run at hand taken for the next one.
#include <catch2/catch.hpp>

#include <cstdint>
#include <set>
#include <string>

#include "sim/experiment/sweep.h"
#include "sim/experiment/sweep_load.h"
#include "tests/cli/small_sweep.h"

namespace sim::experiment {
namespace {

struct Swept {
  SweepOutcome outcome;
  std::string runs, points;
  std::set<std::uint64_t> rounds;  // runs that each round of the sweep had to make
};

Swept swept(const tests_cli::Place& place, const std::string& folder, int jobs, const SweepTestSwitches& test) {
  place.write("base.toml", tests_cli::goodput_scenario());
  SweepRequest request{};
  request.file = place.write("sweep.toml", "format = 1\nbase = \"base.toml\"\n[sweep]\nset = [\"marks.time=10 min\"]\n"
                                           "seeds = \"1..4\"\n[[sweep.axis]]\nkey = \"failure.chips.mtbi\"\n"
                                           "values = [\"90 d\", \"1 y\"]\n");
  const SweepLoad loaded = load_sweep(request);
  REQUIRE(loaded.plan);
  SweepSettings settings{};
  settings.folder = place.path(folder);
  settings.jobs = jobs;
  settings.failures_max = UINT64_MAX;
  settings.test = test;
  Swept result{};
  settings.on_progress = [&result](const SweepProgress& progress) { result.rounds.insert(progress.all); };
  result.outcome = run_sweep(*loaded.plan, settings);
  if (result.outcome.end != SweepEnd::kDone) return result;
  result.runs = tests_cli::text_of(place.root / folder / "runs.csv");
  result.points = tests_cli::text_of(place.root / folder / "points.csv");
  return result;
}

TEST_CASE("sweep: a run that dies for what its process made before is made again alone", "[experiment][sweep]") {
  const tests_cli::Place place;
  SweepTestSwitches used;
  used.abort_unless_first = true;
  for (const int jobs : {1, 2}) {
    const std::string name = std::to_string(jobs);
    const Swept calm = swept(place, "calm" + name, jobs, {}), stormy = swept(place, "stormy" + name, jobs, used);
    CHECK(calm.outcome.runs == 16);
    CHECK(stormy.outcome.failed == 0);
    CHECK(stormy.rounds == std::set<std::uint64_t>{16});  // none was left for a second round
    CHECK(stormy.runs == calm.runs);
    CHECK(stormy.points == calm.points);
  }
}

TEST_CASE("sweep: a run that dies alone too has failed, and only that one", "[experiment][sweep]") {
  const tests_cli::Place place;
  SweepTestSwitches one;
  one.abort_at_s = 60;
  one.abort_seed = 3;
  const Swept got = swept(place, "one", 1, one);
  CHECK(got.outcome.end == SweepEnd::kDone);
  CHECK(got.outcome.runs == 16);
  CHECK(got.outcome.failed == 4);  // 2 points x 2 arms
  CHECK(got.rounds == std::set<std::uint64_t>{16});
}

}  // namespace
}  // namespace sim::experiment

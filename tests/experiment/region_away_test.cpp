// tests/experiment/region_away_test.cpp: a region is away for a minute: who goes on, who stops.
//
// scenarios/minimal.toml is the small sister of four_regions: two of four islands are killed from
// 4 min to 5 min, on top of random failures; seed and arms as in the file.
// Teeth:  seen failing with recovered learners kept out of merges, and with data parallel's wait for
//         repair told as stepping.
#include <catch2/catch.hpp>

#include "tests/experiment/whole_run.h"

namespace sim::experiment {
namespace {

using base::kMinute;

TEST_CASE("region away: Decoupled DiLoCo steps all the time and takes the lost back",
          "[unit][experiment]") {
  const WholeRun run = run_whole(scenario_text("minimal.toml"), "decoupled-diloco");
  CHECK(run.summary["uptime"] == 1.0);
  CHECK(uptime_between(run.tape, 4 * kMinute, 5 * kMinute) == 1.0);
  CHECK(run.summary["faults_met_scripted"] == 1);
  CHECK(run.summary["properties"]["violation_count"] == 0);
  CHECK(run.tape.back_in_merges == std::set<std::uint16_t>{2, 3});  // both islands of the west
  CHECK(run.tape.sometimes.merges_by_new_lives >= 2);
  CHECK(run.tape.sometimes.merges_below_full > 0);
}

TEST_CASE("region away: data parallel stops for it", "[unit][experiment]") {
  const std::string text = scenario_text("minimal.toml");
  const WholeRun run = run_whole(text, "data-parallel", {"arm.data-parallel.training.elastic=false"});
  CHECK(run.summary["uptime"] < 1.0);
  CHECK(run.summary["properties"]["violation_count"] == 0);
  // From the kill on not one step is done before the region is back and the program has restarted.
  CHECK(uptime_between(run.tape, 4 * kMinute, 5 * kMinute) == 0.0);
}

TEST_CASE("region away: without the fault nobody's uptime suffers", "[unit][experiment]") {
  const std::string text = scenario_text("minimal.toml");
  const std::string quiet = text.substr(0, text.find("[[failure]]")) +
                            text.substr(text.find("[[arm]]"));
  for (const char* arm : {"decoupled-diloco", "data-parallel"}) {
    CAPTURE(arm);
    CHECK(run_whole(quiet, arm).summary["uptime"] == 1.0);
  }
}

}  // namespace
}  // namespace sim::experiment

// tests/experiment/studies_test.cpp: the studies of scenarios/studies, cut short, run and learn.
//
// Goal:   what the README says to run runs; what the studies find is their own output.
// Method: 24 steps of each arm; knowing nothing of 71 bytes costs their logarithm, 4.26 nats, and 24 steps
//         teach at least how often each byte occurs.
// Teeth:  seen failing with learning rate 0 (no learning).
#include <catch2/catch.hpp>
#include <filesystem>

#include "tests/experiment/whole_run.h"

namespace sim::experiment {
namespace {

const std::vector<std::string> kShort = {
    "marks.tokens=1572864", "learning.schedule.horizon_tokens=1572864",
    "learning.schedule.warmup_tokens=131072", "learning.held_out=16"};

void check_arms(const std::string& file, const std::vector<std::string>& arms,
                std::vector<std::string> sets = kShort) {
  if (!std::filesystem::exists("/usr/share/dict/words")) {
    WARN("skipped: no /usr/share/dict/words (package wamerican)");
    return;
  }
  for (const std::string& arm : arms) {
    CAPTURE(file, arm);
    const WholeRun run = run_whole(scenario_text("studies/" + file), arm, sets);
    CHECK(run.summary["proxy"]["model"] == "transformer");
    CHECK(run.summary["proxy"]["parameters"] > 50'000);
    CHECK(run.summary["loss"]["initial"] > 4.0);
    CHECK(run.summary["loss"]["final"] < 3.6);
    CHECK(run.summary["properties"]["violation_count"] == 0);
  }
}

TEST_CASE("studies: parity, cut short", "[acceptance]") {
  check_arms("parity.toml", {"data-parallel", "decoupled-diloco", "streaming-diloco"});
}

TEST_CASE("studies: parity under failures, cut short", "[acceptance]") {
  std::vector<std::string> sets = kShort;
  sets.push_back("fault.0.at=\"10 s\"");
  check_arms("parity_with_failures.toml", {"data-parallel", "decoupled-diloco", "streaming-diloco"}, sets);
}

TEST_CASE("studies: inner steps, cut short", "[acceptance]") {
  check_arms("inner_steps.toml", {"data-parallel", "diloco H=10"});
  std::vector<std::string> sets = kShort;
  sets[0] = "marks.tokens=7340032";  // 112 steps: the round of 100 is merged and evaluated
  check_arms("inner_steps.toml", {"diloco k=1 H=100"}, sets);
}

}  // namespace
}  // namespace sim::experiment

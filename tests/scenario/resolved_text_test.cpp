// tests/scenario/resolved_text_test.cpp: the resolved scenario is a scenario, and the same one.
//
// Teeth: seen failing with the arm's failures left out of the writer, with arms that keep the other
// method's keys, with --set that reaches the first arm only,
// and with durations beyond 104 days read as doubles.
#include <catch2/catch.hpp>

#include <filesystem>
#include <string>

#include "sim/base/diagnostic.h"
#include "sim/scenario/load.h"

using namespace sim;

namespace {

scenario::Scenario must_load(const std::string& text, const std::vector<std::string>& sets = {}) {
  auto result = scenario::load_text(text, "text.toml", sets);
  INFO(base::format(result.diagnostics));
  REQUIRE(result.scenario);
  return *result.scenario;
}

scenario::Scenario shipped(const std::string& name, const std::vector<std::string>& sets = {}) {
  auto result = scenario::load_file(std::string(ATOLL_SOURCE_DIR) + "/scenarios/" + name, sets);
  INFO(base::format(result.diagnostics));
  REQUIRE(result.scenario);
  return *result.scenario;
}

}  // namespace

TEST_CASE("resolved text: loading it gives the same text and hash") {
  for (const char* name : {"minimal.toml", "four_regions.toml", "paper/goodput.toml"}) {
    INFO(name);
    const auto first = shipped(name);
    const std::string text = scenario::resolved_text(first);
    const auto second = must_load(text);
    CHECK(scenario::resolved_text(second) == text);
    CHECK(scenario::scenario_hash(second) == scenario::scenario_hash(first));
  }
}

// What the results folder of a run holds: the scenario with that arm alone. Loaded and written again it is
// the same text, and a run of it has the same hash.
TEST_CASE("resolved text: of each arm of every shipped scenario, and again") {
  const std::filesystem::path root = std::string(ATOLL_SOURCE_DIR) + "/scenarios";
  std::size_t arms = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.path().extension() != ".toml") continue;
    const auto loaded = scenario::load_file(entry.path().string());
    if (!loaded.scenario) continue;  // a sweep's own file names its scenario
    const std::string folder = entry.path().parent_path().string() + "/";
    for (const auto& arm : loaded.scenario->arms) {
      INFO(entry.path() << " " << arm.training.name);
      const std::string text = scenario::resolved_text(*loaded.scenario, &arm.training.name);
      const auto again = scenario::load_text(text, "again.toml", {}, std::nullopt, folder);
      INFO(base::format(again.diagnostics));
      REQUIRE(again.scenario);
      CHECK(scenario::resolved_text(*again.scenario) == text);
      CHECK(scenario::run_hash(*again.scenario, arm.training.name) ==
            scenario::run_hash(*loaded.scenario, arm.training.name));
      ++arms;
    }
  }
  CHECK(arms > 20);
}

// A drawn repair may be longer than a run, to the nanosecond; a written one may not.
TEST_CASE("resolved text: recorded faults of any length come back exactly") {
  auto first = shipped("minimal.toml");
  for (const base::Nanoseconds lasts : {base::Nanoseconds{0}, 91 * base::kDay + 1, base::kNever - 1}) {
    first.arms[0].faults[0].lasts = lasts;
    first.arms[0].faults[0].scripted = false;
    first.arms[0].faults[0].arm_relative = true;
    const auto second = must_load(scenario::resolved_text(first));
    CHECK(second.arms[0].faults[0].lasts == lasts);
    CHECK(second.arms[0].faults[0].arm_relative);
    first.arms[0].faults[0].scripted = true;
    const auto refused = scenario::load_text(scenario::resolved_text(first), "x.toml");
    CHECK(base::format(refused.diagnostics).find("fault[0].for: must be above 0 s and at most 90 d") !=
          std::string::npos);
  }
}

TEST_CASE("resolved text: values come back exactly, whatever they are") {
  // Values that no short decimal holds, every kind of key, two lists that differ between arms.
  const auto first = shipped(
      "minimal.toml",
      {"model.utilization=0.1234567890123457", "link.0.bandwidth=4.999999999 Gbps",
       "link.0.rtt=63999999 ns", "failure.0.mtbi=7201.123456 s", "training.mixing=0.3333333333333333",
       "fault.0.for=forever", "failure.0.age=17 min", "arm.data-parallel.failure=[]",
       "arm.decoupled-diloco.resume_within=7", "training.syncer={placement=\"central\", region=\"east\"}",
       "seed=9223372036854775807", "expect={\"decoupled-diloco.uptime.min\"=0.25}"});
  const auto second = must_load(scenario::resolved_text(first));
  CHECK(second.seed == 9223372036854775807u);
  CHECK(second.model.utilization == first.model.utilization);
  CHECK(second.network.links[0].bytes_per_s == first.network.links[0].bytes_per_s);
  CHECK(second.network.links[0].rtt == 63'999'999);
  CHECK(second.islands[0].peak_flops == first.islands[0].peak_flops);
  CHECK(second.arms[0].failures[0].life.mean_s == 7201.123456);
  CHECK(second.arms[0].failures[0].age == failure_models::Age::kGiven);
  CHECK(second.arms[0].failures[0].age_s == 1020.0);
  CHECK(second.arms[0].faults[0].lasts == base::kNever);
  CHECK(second.arms[0].training.mixing == first.arms[0].training.mixing);
  CHECK(second.arms[0].training.resume_within == 7);
  CHECK(second.arms[0].training.syncer.placement == methods::SyncerPlacement::kCentral);
  CHECK(second.arms[0].training.syncer.region == "east");
  CHECK(second.arms[1].failures.empty());
  CHECK(second.arms[1].training.buckets == 64);
  REQUIRE(second.expectations.size() == 1);
  CHECK(second.expectations[0].arm == "decoupled-diloco");
  CHECK(second.expectations[0].field == "uptime");
  CHECK(second.expectations[0].is_minimum);
  CHECK(second.expectations[0].bound == 0.25);
}

TEST_CASE("resolved text: one arm alone becomes [training] and keeps its own lists") {
  const auto all = shipped("paper/goodput.toml");
  const std::string name = "8 learners, wall clock";
  const auto one = must_load(scenario::resolved_text(all, &name));
  REQUIRE(one.arms.size() == 1);
  CHECK(one.arms[0].training.name == name);
  CHECK(one.arms[0].training.groups == 8);
  CHECK(one.arms[0].failures[0].clock == chaos::Clock::kWall);
  const std::string nobody = "nobody";
  CHECK_THROWS_WITH(scenario::resolved_text(all, &nobody), "resolved text: no such arm");
}

TEST_CASE("arms: one that changes the method keeps only the keys that both methods have") {
  const auto minimal = shipped("minimal.toml", {"training.downscale=7 s"});
  const auto& arm = minimal.arms[1].training;
  CHECK(arm.method == methods::MethodKind::kDataParallel);
  CHECK(arm.learners == methods::LearnerSplit::kOne);
  CHECK(arm.span);
  CHECK(arm.elasticity.downscale == 7 * base::kSecond);  // --set acts on all arms
  CHECK(arm.inner.learning_rate == 0.01);                // merged from [training]
}

TEST_CASE("overrides: names and indices reach elements of lists, and arm.NAME reaches one arm") {
  const auto scenario = shipped("paper/goodput.toml",
                                {"island.cluster.chips=150016", "failure[0].mtbi=2 y",
                                 "arm.\"2 learners\".downscale=11 s", "training.upscale = 13 s"});
  CHECK(scenario.islands[0].chips == 150'016);
  // 2 x 365.25 x 86,400 s
  CHECK(scenario.arms[0].failures[0].life.mean_s == 63'115'200.0);
  CHECK(scenario.arms[2].training.name == "2 learners");
  CHECK(scenario.arms[2].training.elasticity.downscale == 11 * base::kSecond);
  CHECK(scenario.arms[1].training.elasticity.downscale == 10 * base::kSecond);
  for (const auto& arm : scenario.arms) CHECK(arm.training.elasticity.upscale == 13 * base::kSecond);
}

TEST_CASE("seed: the command line's replaces the file's") {
  const auto result = scenario::load_file(std::string(ATOLL_SOURCE_DIR) + "/scenarios/minimal.toml",
                                          {"seed=5"}, 42);
  REQUIRE(result.scenario);
  CHECK(result.scenario->seed == 42);
}

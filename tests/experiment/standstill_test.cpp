// tests/experiment/standstill_test.cpp: what a table says where a bare number would mislead.
//
// Teeth:  seen failing with a note for an arm that stood still on one seed only, with the smallest
//         bucket named, with recorded faults called no failures, with 0 for returns to merges that an
//         arm does not have, with every expectation taken for checked, and with the whole
//         scenario.toml compared.
#include <catch2/catch.hpp>
#include <filesystem>

#include "sim/experiment/comparison.h"
#include "sim/experiment/comparison_format.h"
#include "sim/experiment/comparison_table.h"
#include "sim/experiment/expectations.h"
#include "sim/experiment/results_folder.h"

namespace sim::experiment {
namespace {

using Catch::Matchers::Contains;

scenario::Scenario two_arms() {
  scenario::Scenario scenario{};
  scenario.name = "Two";
  scenario.marks = {3600 * base::kSecond, 0.0, 90 * base::kDay};
  scenario.arms.resize(2);
  scenario.arms[0].training.name = "a";
  scenario.arms[1].training.name = "b";
  return scenario;
}

FinishedRun run_of(std::size_t arm, std::uint64_t seed, double stepping, double waiting_s,
                   double stepping_s) {
  return {arm, seed,
          {{"goodput", {{"stepping", stepping}}},
           {"activity_chip_seconds",
            {{"stepping", stepping_s}, {"waiting_for_repair", waiting_s}, {"idle", 1.0}}}}};
}

TEST_CASE("standstill: an arm without a counted step says where its chips' time went",
          "[unit][experiment]") {
  // Of b over both seeds: 90 + 96 waiting, 6 + 6 stepping, 1 + 1 idle: 186 of 200 is 93 %.
  const std::vector<FinishedRun> runs = {run_of(0, 1, 0.0, 90, 9), run_of(0, 2, 0.5, 90, 9),
                                         run_of(1, 1, 0.0, 90, 6), run_of(1, 2, 0.0, 96, 6)};
  const Comparison comparison = compare(two_arms(), runs);
  const std::string wanted =
      "b: no step counted; chips spent 93 % of the time in waiting_for_repair";
  CHECK(std::ranges::count(comparison.notes, wanted) == 1);
  CHECK_THAT(as_text(comparison), !Contains("a: no step counted"));
  CHECK_THAT(as_text(comparison), Contains(wanted));
  const auto json = nlohmann::ordered_json::parse(as_json(comparison, {}, {}, runs));
  CHECK(json["notes"][0] == wanted);
}

TEST_CASE("clock: recorded faults are not no failures", "[unit][experiment]") {
  scenario::Scenario scenario = two_arms();
  scenario.arms[0].faults.resize(1);
  scenario.arms[0].faults[0].scripted = false;
  scenario.arms[1].faults.resize(1);
  scenario.arms[1].faults[0].scripted = true;
  const std::vector<FinishedRun> runs = {run_of(0, 1, 0.5, 1, 1), run_of(1, 1, 0.5, 1, 1)};
  const Comparison comparison = compare(scenario, runs);
  CHECK(comparison.clocks == std::vector<std::string>{"recorded faults", "no failures"});
  CHECK(tables_of(comparison)[0].cells[0][0] == "recorded faults");
}

TEST_CASE("returns to merges: a dash where nothing merges, a number where something does",
          "[unit][experiment]") {
  std::vector<FinishedRun> runs = {run_of(0, 1, 0.5, 1, 1), run_of(1, 1, 0.5, 1, 1)};
  for (FinishedRun& run : runs) {
    run.summary["recoveries"] = {{"lives", 3}, {"back_in_merges", 0}};
    run.summary["participation"] = nullptr;
  }
  runs[0].summary["syncs"] = {{"rounds", 0}, {"skipped", 4}, {"lost", 0}};  // due, never merged
  const Comparison comparison = compare(two_arms(), runs);
  const auto row = std::ranges::find(
      comparison.rows, "recoveries.back_in_merges",
      [](const ComparisonRow& each) { return each.measure.key; });
  REQUIRE(row != comparison.rows.end());
  CHECK(row->cells[0].value->mean == 0.0);
  CHECK_FALSE(row->cells[1].value);
  CHECK(row->cells[1].reached == 0);
  runs[0].summary["syncs"]["skipped"] = 0;
  for (const ComparisonRow& other : compare(two_arms(), runs).rows) {
    CHECK(other.measure.key != "recoveries.back_in_merges");
  }
}

TEST_CASE("expectations: those on arms that did not run are named", "[unit][experiment]") {
  scenario::Scenario scenario = two_arms();
  scenario.expectations = {{"a", "uptime", true, 0.6, 3, 1}, {"b", "uptime", false, 0.6, 4, 1}};
  CHECK(unchecked(scenario, {run_of(0, 1, 0.5, 1, 1)}) ==
        std::vector<std::string>{"not checked: b.uptime.max: arm b was not run"});
  CHECK(unchecked(scenario, {run_of(0, 1, 0.5, 1, 1), run_of(1, 1, 0.5, 1, 1)}).empty());
}

TEST_CASE("results folder: another expectation is the same scenario", "[unit][experiment]") {
  std::string name = (std::filesystem::temp_directory_path() / "atoll-expect-XXXXXX").string();
  REQUIRE(mkdtemp(name.data()) != nullptr);
  const std::string path = name + "/seed-1";
  const auto open = [&path](const std::string& resolved) {
    ResultsFolder folder(path);
    const bool opened = !folder.open(resolved, Overwrite::kSameScenarioOnly);
    return opened && !folder.publish();
  };
  CHECK(open("a = 1\n"));
  CHECK(open("a = 1\n\n[expect]\n\"x.uptime.min\" = 1\n"));
  CHECK(open("a = 1\n\n[expect]\n\"x.uptime.min\" = 0.5\n"));
  CHECK_FALSE(open("a = 2\n\n[expect]\n\"x.uptime.min\" = 0.5\n"));
  std::filesystem::remove_all(name);
}

}  // namespace
}  // namespace sim::experiment

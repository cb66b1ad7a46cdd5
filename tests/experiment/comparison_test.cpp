// tests/experiment/comparison_test.cpp: the table from hand-written summaries, and what it judges.
//
// Teeth:  seen failing with runs not sorted by seed, with a mean over the seeds that
//         reached a mark, with the best seed judged, with property violations ignored, with seeds
//         that missed a target left out of the median, and with the first arm taken as reference.
#include "sim/experiment/comparison.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "sim/experiment/comparison_table.h"
#include "sim/experiment/expectations.h"
#include "sim/experiment/figure.h"
#include "sim/report/summary.h"

namespace sim::experiment {
namespace {

using Catch::Matchers::Contains;
using nlohmann::ordered_json;

scenario::Scenario two_arms() {
  scenario::Scenario scenario{};
  scenario.name = "Two";
  scenario.marks = {3600 * base::kSecond, 1e6, 90 * base::kDay};
  scenario.arms.resize(2);
  scenario.arms[0].training.name = "a";
  scenario.arms[1].training.name = "b";
  return scenario;
}

// A summary with what the tests read; `loss` null: the token mark was not reached.
FinishedRun run_of(std::size_t arm, std::uint64_t seed, double goodput, const ordered_json& loss) {
  ordered_json summary = {{"goodput", {{"time", goodput}}},
                          {"loss", {{"initial", 9.0}, {"final", 1.0}}},
                          {"marks", {{"tokens", {{"at_s", nullptr}, {"loss", loss}}}}},
                          {"faults_met_scripted", 0},
                          {"properties", {{"violation_count", 0}, {"violations", nullptr}}}};
  return {arm, seed, std::move(summary)};
}

const ComparisonRow& row_named(const Comparison& comparison, const std::string& key) {
  for (const ComparisonRow& row : comparison.rows) {
    if (row.measure.key == key) return row;
  }
  throw std::logic_error("no row " + key);
}

TEST_CASE("comparison: means and differences pair by seed, not by order", "[unit][experiment]") {
  // a: 0.5, 0.7 (seeds 1, 2), b: 0.6, 0.9. Differences 0.1 and 0.2: mean 0.15, sd 0.0707, and the
  // interval 12.706 * 0.0707 / sqrt(2) = 0.6353.
  const std::vector<FinishedRun> runs = {run_of(1, 2, 0.9, 1.0), run_of(0, 1, 0.5, 1.0),
                                         run_of(1, 1, 0.6, 1.0), run_of(0, 2, 0.7, 1.0)};
  const Comparison comparison = compare(two_arms(), runs);
  CHECK(comparison.arms == std::vector<std::string>{"a", "b"});
  CHECK(comparison.seeds == std::vector<std::uint64_t>{1, 2});
  const ComparisonRow& row = row_named(comparison, "goodput.time");
  CHECK_THAT(row.cells[0].value->mean, Catch::Matchers::WithinAbs(0.6, 1e-15));  // one rounding
  CHECK_FALSE(row.cells[0].difference);
  CHECK_THAT(row.cells[1].difference->mean, Catch::Matchers::WithinAbs(0.15, 1e-15));
  CHECK_THAT(*row.cells[1].difference->half_width,
             Catch::Matchers::WithinAbs(0.6353, 0.00005));  // four printed decimals
}

TEST_CASE("comparison: a mark that one seed missed has no mean", "[unit][experiment]") {
  const std::vector<FinishedRun> runs = {run_of(0, 1, 0.5, 1.0), run_of(0, 2, 0.5, nullptr)};
  const Comparison comparison = compare(two_arms(), runs);
  const ComparisonRow& row = row_named(comparison, "marks.tokens.loss");
  CHECK_FALSE(row.cells[0].value);
  CHECK(row.cells[0].reached == 1);
  CHECK_THAT(as_text(comparison), Contains("reached by 1 of 2"));
  CHECK_THAT(as_text(comparison), Contains("not reached"));  // the date of the mark, by nobody
}

TEST_CASE("comparison: arms on different seeds cannot be compared", "[unit][experiment]") {
  const std::vector<FinishedRun> runs = {run_of(0, 1, 0.5, 1.0), run_of(1, 2, 0.5, 1.0)};
  CHECK_THROWS_WITH(compare(two_arms(), runs), "arms can only be compared on the same seeds");
  CHECK_THROWS_WITH(compare(two_arms(), {}), "a comparison needs at least one run");
}

TEST_CASE("comparison: the clock stands beside every goodput", "[unit][experiment]") {
  scenario::Scenario scenario = two_arms();
  scenario.arms[0].failures.resize(1);
  scenario.arms[0].failures[0].clock = chaos::Clock::kStepping;
  const std::vector<FinishedRun> runs = {run_of(0, 1, 0.5, 1.0), run_of(1, 1, 0.5, 1.0)};
  const std::vector<Table> tables = tables_of(compare(scenario, runs));
  CHECK(tables[0].columns[0] == "failures by");
  CHECK(tables[0].cells[0] == std::vector<std::string>{"stepping clock", "0.5000"});
  CHECK(tables[0].cells[1] == std::vector<std::string>{"no failures", "0.5000"});
  scenario.arms[1].failures = scenario.arms[0].failures;
  CHECK(tables_of(compare(scenario, runs))[0].heading ==
        "Goodput up to 60 min, stepping clock");
}

TEST_CASE("comparison: differences are taken against the arm that is named", "[unit][experiment]") {
  const std::vector<FinishedRun> runs = {run_of(0, 1, 0.5, 1.0), run_of(0, 2, 0.7, 1.0),
                                         run_of(1, 1, 0.6, 1.0), run_of(1, 2, 0.9, 1.0)};
  const Comparison comparison = compare(two_arms(), runs, 1);
  CHECK(comparison.reference == 1);
  const ComparisonRow& row = row_named(comparison, "goodput.time");
  CHECK_FALSE(row.cells[1].difference);
  CHECK_THAT(row.cells[0].difference->mean, Catch::Matchers::WithinAbs(-0.15, 1e-15));
  CHECK_THAT(as_text(comparison), Contains("reference arm (ref): b"));
  CHECK_THROWS_WITH(compare(two_arms(), runs, 2), "the reference arm was not run");
}

// Three seeds of one arm that reach a target loss after these hours; 0: not at all.
Comparison to_a_loss(const std::vector<double>& hours) {
  scenario::Scenario scenario = two_arms();
  scenario.arms.resize(1);
  scenario.marks.loss = 2.5;
  std::vector<FinishedRun> runs;
  for (std::size_t i = 0; i < hours.size(); ++i) {
    runs.push_back(run_of(0, i + 1, 0.5, 1.0));
    ordered_json at = nullptr;
    if (hours[i] > 0) at = hours[i] * 3600.0;
    runs.back().summary["marks"]["loss"] = {{"at_s", at}, {"tokens", nullptr}};
  }
  return compare(scenario, runs);
}

TEST_CASE("comparison: to a loss, not reached is infinity", "[unit][experiment]") {
  const auto cell = [](const Comparison& c) { return row_named(c, "marks.loss.at_s").cells[0]; };
  const Comparison most = to_a_loss({3, 1, 0});
  CHECK(cell(most).reached == 2);
  CHECK(cell(most).median == 3.0 * 3600.0);
  CHECK_FALSE(cell(most).value);
  CHECK_THAT(as_text(most), Contains("10800.0 (2 of 3)"));
  const Comparison few = to_a_loss({0, 1, 0});
  CHECK(std::isinf(*cell(few).median));
  CHECK_THAT(as_text(few), Contains("not reached (1 of 3)"));
  CHECK(cell(to_a_loss({3, 1, 2})).median == 2.0 * 3600.0);
  CHECK_FALSE(row_named(most, "goodput.time").cells[0].median);
}

TEST_CASE("comparison: a loss within its seed noise of the floor is saturated",
          "[unit][experiment]") {
  // Losses 1.0 and 1.2: standard deviation 0.1414 over seeds, 0.1 or 0.2 above the floor.
  const auto saturated = [](double floor) {
    std::vector<FinishedRun> runs = {run_of(0, 1, 0.5, 1.0), run_of(0, 2, 0.5, 1.2)};
    for (FinishedRun& run : runs) run.summary["loss"]["floor"] = floor;
    const Comparison comparison = compare(two_arms(), runs);
    return row_named(comparison, "marks.tokens.loss").cells[0].saturated;
  };
  CHECK(saturated(1.0));
  CHECK_FALSE(saturated(0.9));
}

TEST_CASE("figure: paths, nulls and signs", "[unit][experiment]") {
  const ordered_json summary = {{"a", {{"b", 2.5}, {"c", nullptr}}}, {"text", "x"}};
  CHECK(figure_at(summary, "a.b") == 2.5);
  CHECK_FALSE(figure_at(summary, "a.c"));
  CHECK_FALSE(figure_at(summary, "a.b.c"));
  CHECK_FALSE(figure_at(summary, "text"));
  CHECK(has_figure(summary, "a.c"));
  CHECK_FALSE(has_figure(summary, "a.d"));
  CHECK(format_figure(-0.00001, 4) == "0.0000");
  CHECK(format_figure(123456.7, -1) == "1.2346e+05");
}

TEST_CASE("expectations: the worst seed counts", "[unit][experiment]") {
  scenario::Scenario scenario = two_arms();
  scenario.expectations = {{"a", "goodput.time", true, 0.6, 3, 1},
                           {"a", "goodput.time", false, 0.6, 4, 1},
                           {"b", "goodput.time", true, 0.6, 5, 1}};
  const std::vector<FinishedRun> runs = {run_of(0, 1, 0.7, 1.0), run_of(0, 2, 0.5, 1.0)};
  const std::vector<Verdict> verdicts = judge(scenario, runs);
  REQUIRE(verdicts.size() == 2);  // b did not run
  CHECK_FALSE(verdicts[0].met);
  CHECK(verdicts[0].key == "a.goodput.time.min");
  CHECK(verdicts[0].wanted == "at least 0.6");
  CHECK(verdicts[0].got == "0.5");
  CHECK_FALSE(verdicts[1].met);
  CHECK(verdicts[1].got == "0.7");
}

TEST_CASE("expectations: what was not reached, or is no number, is unmet", "[unit][experiment]") {
  scenario::Scenario scenario = two_arms();
  scenario.expectations = {{"a", "marks.tokens.loss", false, 2.0, 3, 1}};
  const auto verdict = [&](const ordered_json& loss) {
    return judge(scenario, {run_of(0, 4, 0.5, loss)}).at(0);
  };
  CHECK(verdict(1.0).met);
  CHECK_FALSE(verdict(nullptr).met);
  CHECK(verdict(nullptr).got == "not reached with seed 4");
  CHECK_FALSE(verdict(std::numeric_limits<double>::quiet_NaN()).met);
}

TEST_CASE("expectations: a scripted fault must strike where something is expected",
          "[unit][experiment]") {
  scenario::Scenario scenario = two_arms();
  scenario.arms[0].faults.resize(2);
  scenario.arms[0].faults[0].scripted = true;  // the other was read from a recording
  const std::vector<FinishedRun> runs = {run_of(0, 1, 0.5, 1.0)};
  CHECK(judge(scenario, runs).empty());  // nothing is expected
  scenario.expectations = {{"a", "goodput.time", true, 0.1, 3, 1}};
  const std::vector<Verdict> verdicts = judge(scenario, runs);
  REQUIRE(verdicts.size() == 2);
  CHECK(verdicts[1].wanted == "all 1 scripted faults");
  CHECK_FALSE(all_met(verdicts));
}

TEST_CASE("expectations: a violated property is unmet in every scenario", "[unit][experiment]") {
  // Through the real writer, so that the place of the key in summary.json is under test too.
  report::Summary summary;
  summary.violation_count = 2;
  summary.violations = {"quorum", "other"};
  const FinishedRun run{0, 1, ordered_json::parse(report::to_json(summary))};
  const std::vector<Verdict> verdicts = judge(two_arms(), {run});
  REQUIRE(verdicts.size() == 1);
  CHECK(verdicts[0].got == "2, first: quorum");
  CHECK_FALSE(verdicts[0].met);
}

}  // namespace
}  // namespace sim::experiment

// tests/experiment/comparison_test.cpp: the table from hand-written summaries, and what it judges.
//
// Teeth:  seen failing with stepping, links and totals starred, with a loss's spread in place of the
//         spread of its distance from the floor, with findings left out of the notes, with a diverged loss
//         called not reached, with counters of 0 printed, with no share of merges;
//         seen failing with runs not sorted by seed, with a mean over the seeds that
//         reached a mark, with the best seed judged, with property violations ignored, with seeds
//         that missed a target left out of the median, and with the first arm taken as reference.
#include "sim/experiment/comparison.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "sim/experiment/comparison_table.h"
#include "sim/experiment/expectations.h"
#include "sim/experiment/figure.h"
#include "sim/experiment/run_findings.h"
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

// Floors that differ by seed are the task's, no noise of training: the distance is 0.1 on both seeds.
TEST_CASE("comparison: saturation pairs loss and floor by seed", "[unit][experiment]") {
  std::vector<FinishedRun> runs = {run_of(0, 1, 0.5, 1.0), run_of(0, 2, 0.5, 3.0)};
  runs[0].summary["loss"]["floor"] = 0.9;
  runs[1].summary["loss"]["floor"] = 2.9;
  CHECK_FALSE(row_named(compare(two_arms(), runs), "marks.tokens.loss").cells[0].saturated);
}

// b steps more, rests its links, burns faster and spends less; a merges more.
TEST_CASE("comparison: no arm is best by doing less", "[unit][experiment]") {
  scenario::Scenario scenario = two_arms();
  scenario.marks.energy_kwh = 900;
  scenario.marks.loss = 2.5;
  scenario.energy.stall = scenario.energy.stall_low = 0.2;
  scenario.energy.stall_high = 1.0;
  std::vector<FinishedRun> runs;
  for (std::size_t arm = 0; arm < 2; ++arm) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      const double less = arm == 0 ? 2.0 : 1.0, more = arm == 0 ? 1.0 : 2.0;
      const double work = less + 0.001 * static_cast<double>(seed);
      const ordered_json mark = {{"at_s", less},       {"loss", more},
                                 {"tokens", more},     {"merged_tokens", work},
                                 {"energy_kwh", less},
                                 {"energy_kwh_stall_high", less}, {"cost_usd", less}};
      runs.push_back({arm, seed,
                      {{"goodput", {{"token", work}, {"stepping", more}, {"time", more}, {"chip", more}}},
                       {"uptime", more}, {"compute_utilization", more}, {"step_median_s", less},
                       {"wan", {{"bytes", 1}, {"mean_gbps", less}, {"peak_gbps", less}, {"bytes_per_token", less}}},
                       {"loss", {{"initial", 9.0}}},
                       {"energy_kwh", less}, {"energy_kwh_stall_high", less}, {"cost_usd", less},
                       {"energy", {{"joules_per_token", less}, {"wasted_kwh", less}, {"watts_assumed", false}}},
                       {"cost", {{"usd_per_billion_tokens", less}}},
                       {"marks", {{"time", mark}, {"tokens", mark}, {"energy_kwh", mark}, {"loss", mark}}}}});
    }
  }
  std::vector<std::string> starred;
  for (const ComparisonRow& row : compare(scenario, runs).rows) {
    for (std::size_t arm = 0; arm < 2; ++arm) {
      if (row.cells[arm].best) starred.push_back((arm == 0 ? "a " : "b ") + row.measure.key);
    }
  }
  CHECK(starred == std::vector<std::string>{
                       "a goodput.token", "a marks.time.loss", "a marks.time.merged_tokens",
                       "a marks.tokens.loss", "a marks.tokens.merged_tokens",
                       "a marks.energy_kwh.loss", "a marks.energy_kwh.merged_tokens",
                       // the same loss: what it took may be compared
                       "b marks.loss.at_s", "a marks.loss.tokens", "b marks.loss.energy_kwh",
                       "b marks.loss.energy_kwh_stall_high", "b marks.loss.cost_usd"});
}

TEST_CASE("comparison: shares of merges, and what kept tokens out of them", "[unit][experiment]") {
  FinishedRun run = run_of(0, 1, 0.5, 1.0);
  run.summary["syncs"] = {{"merged", 8}, {"due", 40}, {"in_time", 10}, {"lone", 6}, {"contributions", 9},
                          {"late_adoptions", 0}, {"skipped", 30},
                          {"skipped_by_reason", {{"in_flight_limit", 30}, {"no_quorum", 0}}}};
  run.summary["token_account"] = {{"processed", 100}, {"merged", 60}, {"overwritten", 0},
                                  {"discarded", {{"not_in_quorum", 40}}}};
  const Comparison comparison = compare(two_arms(), {run});
  CHECK(row_named(comparison, "syncs.in_time").cells[0].value->mean == 0.25);
  CHECK(row_named(comparison, "syncs.lone").cells[0].value->mean == 0.75);
  const std::string text = as_text(comparison);
  CHECK_THAT(text, Contains("  skipped: in flight limit  30\n") && Contains("  discarded: not in quorum  40\n"));
  CHECK_THAT(text, !Contains("no quorum ") && !Contains("overwritten") && !Contains("late adoptions"));
}

TEST_CASE("findings: each is told with its arm and seeds", "[unit][experiment]") {
  std::vector<FinishedRun> runs = {run_of(0, 1, 0.5, nullptr), run_of(0, 2, 0.5, nullptr),
                                   run_of(1, 1, 0.5, 1.0), run_of(1, 2, 0.5, 1.0)};
  for (std::size_t i = 0; i < 2; ++i) {
    runs[i].summary["diverged"] = {{"at_s", 210.0}, {"step", 210}};
    runs[i].summary["recoveries"] = {{"bound_steps", 24}, {"beyond_bound", i + 1},
                                     {"longest_steps", 100.0 + static_cast<double>(i)}};
  }
  runs[3].summary["liveness"] = {{{"who", "learner w/0"}, {"since_s", 320.0}, {"waits_for", "a copy"}}};
  runs[2].summary["faults_never_met"] = {"fault 1 (kill island:w at 20 min): it ended at 10 min"};
  const Comparison comparison = compare(two_arms(), runs);
  std::vector<std::string> wanted = {
      "a: diverged at 210 s, step 210 (seeds 1, 2)",
      "b: never met fault 1 (kill island:w at 20 min): it ended at 10 min (seed 1)",
      "b: learner w/0 is in no merge since 320 s, longer than faults explain: waits for a copy (seed 2)"};
  CHECK(findings_of(two_arms(), runs) == wanted);
  wanted.push_back("a: 3 recoveries took longer than H = 24 steps, at most 101.0 (seeds 1, 2)");
  for (const std::string& line : wanted) {
    CHECK(std::ranges::count(comparison.notes, line) == 1);
  }
}

TEST_CASE("expectations: divergence and who is not back are told and unmet", "[unit][experiment]") {
  scenario::Scenario scenario = two_arms();
  FinishedRun run = run_of(0, 1, 0.5, nullptr);
  run.summary["diverged"] = {{"at_s", 210.0}, {"step", 210}};
  run.summary["liveness"] = {{{"who", "fragment 3"}, {"since_s", 40.0}, {"waits_for", "merges"}}};
  CHECK(judge(scenario, {run}).empty());  // nothing is expected
  scenario.expectations = {{"a", "marks.tokens.loss", false, 5.0, 3, 1}};
  const std::vector<Verdict> verdicts = judge(scenario, {run});
  REQUIRE(verdicts.size() == 2);
  CHECK(verdicts[0].got == "diverged at 210 s, step 210, with seed 1");
  CHECK(verdicts[1].key == "a.liveness, seed 1");
  CHECK(verdicts[1].got ==
        "fragment 3 is in no merge since 40 s, longer than faults explain: waits for merges");
  CHECK_FALSE(all_met(verdicts));
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

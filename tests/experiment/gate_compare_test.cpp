// tests/experiment/gate_compare_test.cpp: verdicts on curves made by hand.
//
// Teeth:  seen failing with each cell at the whole 1 %, with 0 as the smallest loss that matters, with cells in rising
//         order of loss, with cells matched by the points' names, with a new layout of streams paired, with an
//         axis counted as a change of streams, with --strict at the level of one side, with few seeds believed
//         their spread, with the level divided by points alone, with metrics not told apart, and with the second sample's size left out of what can be found.
#include <catch2/catch.hpp>
#include <cmath>

#include "sim/experiment/gate.h"
#include "tests/experiment/hand_made_curve.h"

namespace sim::experiment {
namespace {

// Losses 0.02 - d, 0.02, 0.02 + d: mean 2 points, standard error d / sqrt 3.
CurveCell two_points_lower(const std::string& arm, const std::string& at, double d) {
  return hand_made_cell(arm, at, {0.88 + d, 0.90, 0.92 - d});
}

std::vector<double> rising() { return {0.90, 0.92, 0.94}; }

std::vector<std::string> order_of(const GateReport& report) {
  std::vector<std::string> arms;
  for (const GateCell& cell : report.cells) arms.push_back(cell.arm);
  return arms;
}

// Student's quantile for two degrees in closed form: a sqrt(2 / (1 - a^2)), a = 1 - 2 tail.
double quantile_of_two_degrees(double tail) {
  const double a = 1 - 2 * tail;
  return a * std::sqrt(2 / (1 - a * a));
}

// With an error of 0.2 points the bound of one cell alone, at 1 %, is 2 - 6.96 x 0.2 = 0.61 points; of four
// cells, at 0.25 % each, 2 - 14.09 x 0.2 = -0.82: the same loss is no certain one there.
TEST_CASE("gate: the level of a cell is the curve's, divided by its cells", "[unit][experiment][gate]") {
  const double d = 0.002 * std::sqrt(3.0);
  const GateReport alone = compare_curves(hand_made_curve({hand_made_cell("a", "", rising())}),
                                          hand_made_curve({two_points_lower("a", "", d)}), {});
  CHECK(alone.test == "paired by seed");
  CHECK(alone.tail == Approx(0.01).epsilon(1e-12));
  CHECK(alone.cells[0].verdict == CellVerdict::kWorse);
  CHECK(alone.cells[0].loss.low == Approx(0.02 - quantile_of_two_degrees(0.01) * 0.002).epsilon(1e-9));

  Curve before = hand_made_curve({}), after = hand_made_curve({});
  for (const char* arm : {"a", "b", "c", "d"}) {
    before.cells.push_back(hand_made_cell(arm, "", rising()));
    after.cells.push_back(two_points_lower(arm, "", d));
  }
  const GateReport four = compare_curves(before, after, {});
  CHECK(four.tail == Approx(0.0025).epsilon(1e-12));
  CHECK(four.passed());
  for (const GateCell& cell : four.cells) {
    CHECK(cell.loss.mean == Approx(0.02).epsilon(1e-9));
    CHECK(cell.loss.low == Approx(0.02 - quantile_of_two_degrees(0.0025) * 0.002).epsilon(1e-9));
  }
  // Points that the baseline has not are not tested, and cost the others nothing.
  for (const char* arm : {"e", "f", "g", "h"}) after.cells.push_back(hand_made_cell(arm, "", rising()));
  CHECK(compare_curves(before, after, {}).tail == Approx(0.0025).epsilon(1e-12));
  GateOptions strict;
  strict.strict = true;
  CHECK(compare_curves(before, after, strict).tail == Approx(0.00125).epsilon(1e-12));
}

// Two metrics at two points are four cells: 1 % / 4 each. Cells of one point are matched by their metric.
TEST_CASE("gate: the level is divided by points times metrics", "[unit][experiment][gate]") {
  Curve before = hand_made_curve({});
  before.metrics = {"goodput.token", "uptime"};
  for (const char* at : {"x = 1", "x = 2"}) {
    for (const std::string& metric : before.metrics) {
      before.cells.push_back(hand_made_cell("a", at, metric == "uptime" ? std::vector{1.0, 1.0} : std::vector{0.5, 0.5}));
      before.cells.back().metric = metric;
    }
  }
  Curve after = before;
  after.cells[2].values = {0.25, 0.25};  // the tokens at x = 2
  const GateReport report = compare_curves(before, after, {});
  CHECK(report.tail == Approx(0.0025).epsilon(1e-12));
  CHECK(report.failures() == 1);
  CHECK(report.cells[0].metric == "goodput.token");
  CHECK(report.cells[0].loss.mean == 0.25);
  CHECK_THAT(as_text(report), Catch::Matchers::Contains("metrics goodput.token, uptime, ") &&
                                  Catch::Matchers::Contains("  goodput.token of a: x = 2\n"));
  GateOptions exact;
  exact.exact = true;
  CHECK(compare_curves(before, after, exact).cells.size() == 2);
}

TEST_CASE("gate: a certain loss fails above half a point, by default", "[unit][experiment][gate]") {
  const auto lower_by = [](double loss) { return hand_made_cell("a", "", {0.9 - loss, 0.9 - loss}); };
  const Curve before = hand_made_curve({lower_by(0)});
  const auto verdict = [&](double loss, const GateOptions& options) {
    return compare_curves(before, hand_made_curve({lower_by(loss)}), options).cells[0].verdict;
  };
  CHECK(verdict(0, {}) == CellVerdict::kHeld);
  CHECK(verdict(0.004, {}) == CellVerdict::kHeld);
  CHECK(verdict(0.006, {}) == CellVerdict::kWorse);
  CHECK(verdict(-0.004, {}) == CellVerdict::kHeld);
  CHECK(verdict(-0.006, {}) == CellVerdict::kBetter);
  GateOptions two_points;
  two_points.smallest_loss = 0.02;
  CHECK(verdict(0.019, two_points) == CellVerdict::kHeld);
  CHECK(verdict(0.021, two_points) == CellVerdict::kWorse);
}

TEST_CASE("gate: failing cells come first, then the larger loss", "[unit][experiment][gate]") {
  const auto flat = [](const char* arm, double value) { return hand_made_cell(arm, "", {value, value}); };
  // Two seeds that differ by 40 points: a mean loss of 10 points that nobody can be sure of.
  const Curve before = hand_made_curve({flat("same", 0.9), flat("less", 0.9), hand_made_cell("noise", "", {0.9, 0.9}),
                                        flat("gone", 0.9), flat("more", 0.8), flat("least", 0.9)});
  const Curve after = hand_made_curve({flat("same", 0.9), flat("fresh", 0.5), flat("less", 0.88),
                                       hand_made_cell("noise", "", {0.6, 1.0}), flat("more", 0.9), flat("least", 0.87)});
  const GateReport report = compare_curves(before, after, {});
  CHECK(order_of(report) == std::vector<std::string>{"least", "less", "gone", "noise", "same", "fresh", "more"});
  CHECK(report.failures() == 3);
  CHECK(report.count(CellVerdict::kNew) == 1);
  CHECK(report.cells[2].verdict == CellVerdict::kMissing);
  CHECK(report.cells[2].before == 0.9);
  CHECK(report.cells[2].command == "");
  GateOptions strict;
  strict.strict = true;
  const GateReport both = compare_curves(before, after, strict);
  CHECK(both.failures() == 4);
  CHECK(order_of(both).at(3) == "more");
}

TEST_CASE("gate: cells are matched by values and arm, whatever the points are called", "[unit][experiment][gate]") {
  CurveCell old = hand_made_cell("a", "x = 1", {0.9, 0.8}), now = old;
  now.point = "another name";
  CurveCell other = hand_made_cell("b", "x = 1", {0.5, 0.4});
  const GateReport report = compare_curves(hand_made_curve({old, other}), hand_made_curve({other, now}), {});
  CHECK(report.count(CellVerdict::kHeld) == 2);
  other.at = {"x = 2"};
  CHECK(compare_curves(hand_made_curve({old}), hand_made_curve({other}), {}).count(CellVerdict::kMissing) == 1);
}

// u = v = (0.02^2 / 3): Welch's degrees are 4.
TEST_CASE("gate: pairs where the seeds and the layout agree, else two samples", "[unit][experiment][gate]") {
  const Curve before = hand_made_curve({hand_made_cell("a", "", rising())});
  Curve after = before;
  const auto test = [&] { return compare_curves(before, after, {}).test; };
  CHECK(test() == "paired by seed");
  after.stream_layout = 2;
  CHECK(test() == "two samples (Welch): random streams were laid out anew (0 to 2)");
  const Loss loss = compare_curves(before, after, {}).cells[0].loss;
  CHECK(loss.low == Approx(-student_upper_quantile(0.01, 4) * 0.02 * std::sqrt(2.0 / 3)).epsilon(1e-9));
  after = before;
  after.cells[0].seeds = {1, 2, 4};
  CHECK(test() == "two samples (Welch): the seeds are others");
  after = before;
  after.scenario = "[[failure]]\nname = \"chips\"\nmtbi = \"1 d\"\n[failure.repair]\nmean = \"1 s\"\n";
  CHECK(test() == "paired by seed");
}

// A failure model by another name draws from other streams; an axis sets its key at every point.
TEST_CASE("gate: names of units move random streams, their values do not", "[unit][experiment][gate]") {
  Curve before = hand_made_curve({hand_made_cell("a", "", rising())}), after = before;
  before.scenario = "[[failure]]\nname = \"chips\"\nmtbi = \"1 d\"\n[[island]]\nname = \"west\"\nslices = 4\n";
  const auto with = [&](const std::string& from, const std::string& to) {
    after.scenario = before.scenario;
    after.scenario.replace(after.scenario.find(from), from.size(), to);
    return compare_curves(before, after, {}).test;
  };
  CHECK(with("1 d", "2 d") == "paired by seed");
  CHECK(with("\"chips\"", "\"chip\"") == "two samples (Welch): failure.chips moves the random streams");
  CHECK(with("slices = 4", "slices = 8") == "two samples (Welch): island.west.slices moves the random streams");
  CHECK(with("[[island]]", "[[island]]\nname = \"east\"\n[[island]]") == "paired by seed");
  before.axes = after.axes = {"island.west.slices"};
  CHECK(with("slices = 4", "slices = 8") == "paired by seed");
}

TEST_CASE("gate: exact mode looks at traces alone", "[unit][experiment][gate]") {
  const Curve before = hand_made_curve({hand_made_cell("a", "", {0.9, 0.8}), hand_made_cell("b", "", {0.9, 0.8})});
  Curve after = before;
  after.cells[0].values = {0.1, 0.1};
  after.cells[1].trace_hashes[1] = "another";
  GateOptions exact;
  exact.exact = true;
  exact.file = "f.toml";
  const GateReport report = compare_curves(before, after, exact);
  CHECK(report.cells[0].arm == "b");
  CHECK(report.cells[0].verdict == CellVerdict::kChanged);
  CHECK(report.cells[0].command == "atoll run 'f.toml' --arm 'b' --seed 2 --results ''");
  CHECK(report.cells[1].verdict == CellVerdict::kHeld);
}

TEST_CASE("gate: a cell is compared over the seeds that it had", "[unit][experiment][gate]") {
  CurveCell few = hand_made_cell("a", "", {0.9, 0.8}), many = hand_made_cell("b", "", {0.9, 0.8, 0.7});
  const Curve before = hand_made_curve({few, many});
  CHECK(seeds_of(before) == std::vector<std::uint64_t>{1, 2, 3});
  Curve after = hand_made_curve({hand_made_cell("a", "", {0.9, 0.8, 0.1}), many, hand_made_cell("c", "", {1, 1, 1})});
  keep_seeds_of(before, after);
  CHECK(after.cells[0].seeds == few.seeds);
  CHECK(after.cells[0].values == few.values);
  CHECK(after.cells[0].trace_hashes == few.trace_hashes);
  CHECK(after.cells[1].seeds.size() == 3);
  CHECK(after.cells[2].seeds.size() == 3);
  CHECK(compare_curves(before, after, {}).test == "paired by seed");
}

// Six values of standard deviation 0.01: the bound is 0.01 sqrt(5 / 2.3425) = 0.01461 (chi-square of five
// degrees lies below 2.3425 with 20 %; any table). Ten are taken as they are.
TEST_CASE("gate: few seeds are not believed their spread", "[unit][experiment][gate]") {
  const double d = 0.01 * std::sqrt(5.0 / 6.0);
  CHECK(reckoned_deviation(std::vector<double>{-d, d, -d, d, -d, d}) == Approx(0.01461).epsilon(1e-3));
  const double e = 0.01 * std::sqrt(0.9);
  CHECK(reckoned_deviation(std::vector<double>{-e, e, -e, e, -e, e, -e, e, -e, e}) == Approx(0.01).epsilon(1e-9));
}

TEST_CASE("gate: what a curve can find is that of its worst cell, at the sizes compared", "[unit][experiment][gate]") {
  std::vector<double> wide, narrow;
  for (int i = 0; i < 40; ++i) {
    wide.push_back(i % 2 == 0 ? 0.88 : 0.92);
    if (i < 12) narrow.push_back(i % 2 == 0 ? 0.89 : 0.91);
  }
  const double sd_wide = 0.02 * std::sqrt(40.0 / 39), sd_narrow = 0.01 * std::sqrt(12.0 / 11);
  const Curve curve = hand_made_curve({hand_made_cell("a", "", wide), hand_made_cell("b", "", narrow)});
  const double of_wide = detectable_loss(sd_wide, {40, 40}, 0.005, 0.005);
  const double of_narrow = detectable_loss(sd_narrow, {12, 12}, 0.005, 0.005);
  CHECK(detectable_loss(curve) == Approx(std::max(of_wide, of_narrow)).epsilon(1e-9));
  CHECK(detectable_loss(curve, 5) == Approx(detectable_loss(sd_wide, {40, 5}, 0.005, 0.005)).epsilon(1e-9));
  CHECK(detectable_loss(curve, 5) > 1.5 * detectable_loss(curve));
  CHECK(seed_counts(curve).least == 12);
  CHECK(seed_counts(curve).most == 40);
  // As many seeds as are asked for are enough, one fewer are not.
  const std::size_t needed = seeds_needed(curve);
  CHECK(detectable_loss(sd_wide, {needed, needed}, 0.005, kSmallestLoss) <= kGuardedLoss);
  CHECK(detectable_loss(sd_wide, {needed - 1, needed - 1}, 0.005, kSmallestLoss) > kGuardedLoss);
}

}  // namespace
}  // namespace sim::experiment

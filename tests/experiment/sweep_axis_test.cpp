// tests/experiment/sweep_axis_test.cpp: values of axes by hand, points of grids, and a hypercube's strata.
//
// Teeth:  seen failing with the log range taken linearly, with the last value computed instead of given,
//         with hypercube samples that share a stratum, with rates shown in bytes, and with ends not rounded.
#include "sim/experiment/sweep_axis.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <set>

#include "sim/experiment/sweep_load.h"

namespace sim::experiment {
namespace {

using base::Value;
using scenario::AxisOptions;
using scenario::AxisSpacing;

AxisOptions range(const Value& from, const Value& to, int count, AxisSpacing spacing, bool whole = false) {
  return {"key", {}, from, to, count, spacing, whole, {}};
}

std::vector<std::string> values_of(const AxisOptions& options) {
  base::Problems problems;
  std::vector<std::string> texts;
  for (const Value& value : make_axis(options, Repeats::kRefuse, problems).values) texts.push_back(base::to_toml(value));
  CHECK(problems.list().empty());
  return texts;
}

using Texts = std::vector<std::string>;

TEST_CASE("axis: ranges by hand", "[unit][experiment][sweep]") {
  CHECK(values_of(range(Value::of("1 d"), Value::of("16 d"), 5, AxisSpacing::kLog)) ==
        Texts{"\"1 d\"", "\"2 d\"", "\"4 d\"", "\"8 d\"", "\"16 d\""});
  CHECK(values_of(range(Value::of(10), Value::of(40), 4, AxisSpacing::kLinear)) == Texts{"10", "20", "30", "40"});
  CHECK(values_of(range(Value::of(1), Value::of(2), 3, AxisSpacing::kLinear)) == Texts{"1", "1.5", "2"});
  CHECK(values_of(range(Value::of(1), Value::of(4), 3, AxisSpacing::kLinear, true)) == Texts{"1", "3", "4"});
  CHECK(values_of(range(Value::of(1.5), Value::of(7.6), 3, AxisSpacing::kLinear, true)) == Texts{"2", "5", "8"});
  // sqrt(10) to six digits; the ends exact, whatever digits they have.
  CHECK(values_of(range(Value::of(0.123456789), Value::of(1.23456789), 3, AxisSpacing::kLog)) ==
        Texts{"0.123456789", "0.390405", "1.23456789"});
  CHECK(values_of(range(Value::of("5 Gbps"), Value::of("1 Gbps"), 3, AxisSpacing::kLinear)) ==
        Texts{"\"5 Gbps\"", "\"3 Gbps\"", "\"1 Gbps\""});
}

TEST_CASE("axis: columns carry units, and cells their numbers", "[unit][experiment][sweep]") {
  const auto axis_of = [](const std::vector<Value>& values) {
    base::Problems problems;
    return make_axis({"link.0.x", values, {}, {}, 0, AxisSpacing::kLinear, false, {}}, Repeats::kRefuse,
                     problems);
  };
  const Axis rate = axis_of({Value::of("5 Gbps"), Value::of("1 GB/s")});
  CHECK(rate.column == "link.0.x_gbps");
  CHECK(rate.cells == Texts{"5", "8"});
  const Axis time = axis_of({Value::of("36 ms"), Value::of("2 min")});
  CHECK(time.column == "link.0.x_s");
  CHECK(time.cells == Texts{"0.036", "120"});
  const Axis words = axis_of({Value::of("5 Gbps"), Value::of("none")});
  CHECK(words.column == "link.0.x");
  CHECK(words.cells == Texts{"5 Gbps", "none"});
  CHECK(axis_of({Value::of(true), Value::of(2.5)}).cells == Texts{"true", "2.5"});
}

TEST_CASE("hypercube: one sample in each stratum of each axis, and two axes in other orders", "[unit][experiment][sweep]") {
  constexpr int kSamples = 50;
  base::Problems problems;
  std::vector<std::vector<int>> orders;
  for (const char* key : {"a", "b"}) {
    AxisOptions options = range(Value::of(0), Value::of(kSamples), 2, AxisSpacing::kLinear);
    options.key = key;
    std::set<int> strata;
    std::vector<int> order;
    for (const Value& value : sample_axis(options, kSamples, 1, problems).values) {
      const double number = value.kind == Value::Kind::kReal ? value.real : static_cast<double>(value.integer);
      strata.insert(static_cast<int>(number));
      order.push_back(static_cast<int>(number));
    }
    CHECK(strata.size() == kSamples);
    CHECK(order != std::vector<int>(strata.begin(), strata.end()));
    orders.push_back(order);
  }
  CHECK(orders[0] != orders[1]);
}

// The last axis moves fastest; 1,000 x 1,000 x 10 points are counted, not stored.
TEST_CASE("plan: points of a grid are counted out on demand", "[unit][experiment][sweep]") {
  SweepPlan plan{};
  base::Problems problems;
  for (const int count : {1000, 1000, 10}) {
    plan.axes.push_back(make_axis(range(Value::of(1), Value::of(count), count, AxisSpacing::kLinear),
                                  Repeats::kRefuse, problems));
  }
  CHECK(plan.point_count() == 10'000'000);
  CHECK(plan.choices_at(0) == std::vector<std::size_t>{0, 0, 0});
  CHECK(plan.choices_at(11) == std::vector<std::size_t>{0, 1, 1});
  CHECK(plan.choices_at(9'999'999) == std::vector<std::size_t>{999, 999, 9});
}

TEST_CASE("sample sweeps: sizes as their files say", "[unit][experiment][sweep]") {
  const auto runs_of = [](const std::string& name) {
    SweepRequest request{};
    request.file = std::string(ATOLL_SOURCE_DIR) + "/scenarios/" + name;
    const SweepLoad loaded = load_sweep(request);
    INFO(base::format(loaded.diagnostics));
    REQUIRE(loaded.plan);
    return loaded.plan->run_count();
  };
  CHECK(runs_of("sweeps/first.toml") == 3 * 2 * 5);
  CHECK(runs_of("sweeps/hypercube.toml") == 40 * 1 * 3);
  CHECK(runs_of("sweeps/paper_goodput.toml") == 5 * 6 * 10);
  CHECK(runs_of("ci/guarded.toml") == 4 * 1 * 10);
}

}  // namespace
}  // namespace sim::experiment

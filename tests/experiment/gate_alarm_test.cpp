// tests/experiment/gate_alarm_test.cpp: how often the gate cries without a reason, and misses one.
//
// Real runs, fresh seeds on both sides of every repetition: 200 pairs of curves of two points and two arms.
// Teeth:  seen failing with tests at 5 % a cell instead of 1 % over the curve (alarms), and with half the
//         seeds that the baseline asks for (losses missed).
#include <catch2/catch.hpp>
#include <filesystem>

#include "sim/experiment/gate.h"
#include "sim/experiment/interruption.h"
#include "sim/experiment/statistics.h"
#include "sim/experiment/sweep_load.h"
#include "tests/cli/small_sweep.h"

namespace sim::experiment {
namespace {

constexpr std::size_t kRepetitions = 200;

// One curve with very many seeds.
Curve long_curve(const tests_cli::Place& place, std::size_t seeds) {
  place.write("base.toml", tests_cli::goodput_scenario());
  const std::string file = place.write("sweep.toml",
                                       "format = 1\nbase = \"base.toml\"\n[sweep]\nset = [\"marks.time=4 h\"]\nseeds = \"1.." +
                                           std::to_string(seeds) +
                                           "\"\n[[sweep.axis]]\nkey = \"failure.chips.mtbi\"\nvalues = [\"90 d\", \"1 y\"]\n");
  SweepRequest request{};
  request.file = file;
  const SweepLoad loaded = load_sweep(request);
  REQUIRE(loaded.plan);
  MeasuredCurve measured = measure_curve(*loaded.plan, 2, {}, nullptr);
  INFO(measured.outcome.message);
  REQUIRE(measured.curve);
  return std::move(*measured.curve);
}

Curve slice(const Curve& whole, std::size_t first, std::size_t count) {
  Curve part = whole;
  for (CurveCell& cell : part.cells) {
    const auto cut = [&](auto& list) {
      list = {list.begin() + static_cast<std::ptrdiff_t>(first), list.begin() + static_cast<std::ptrdiff_t>(first + count)};
    };
    cut(cell.seeds);
    cut(cell.values);
    cut(cell.trace_hashes);
  }
  return part;
}

TEST_CASE("gate: few false alarms, and a loss of 1.5 points is caught", "[slow][gate]") {
  const tests_cli::Place place;
  const std::size_t count = seeds_needed(long_curve(place, 200));  // what the baseline would ask for
  CHECK(count >= 5);
  CHECK(count < 60);
  const Curve whole = long_curve(place, 2 * kRepetitions * count);
  std::size_t widest = 0;
  for (std::size_t i = 0; i < whole.cells.size(); ++i) {
    if (standard_deviation(whole.cells[i].values) > standard_deviation(whole.cells[widest].values)) widest = i;
  }
  int alarms = 0, caught = 0;
  for (std::size_t i = 0; i < kRepetitions; ++i) {
    const Curve before = slice(whole, 2 * i * count, count), after = slice(whole, (2 * i + 1) * count, count);
    const GateReport unchanged = compare_curves(before, after, {});
    CHECK(unchanged.test == "two samples (Welch): the seeds are others");
    alarms += unchanged.passed() ? 0 : 1;
    Curve worse = after;  // planted in the cell where it is hardest to see
    for (double& value : worse.cells[widest].values) value -= kGuardedLoss;
    const GateReport lost = compare_curves(before, worse, {});
    const GateCell& worst = lost.cells.front();
    caught += worst.fails && worst.arm == whole.cells[widest].arm && worst.point == whole.cells[widest].point ? 1 : 0;
  }
  WARN(count << " seeds; " << alarms << " alarms and " << caught << " losses caught in " << kRepetitions);
  CHECK(alarms <= 5);
  CHECK(caught >= static_cast<int>(0.95 * kRepetitions));
}

}  // namespace
}  // namespace sim::experiment

// sim/experiment/gate_curve.h: a curve that a gate guards: its metrics at every point and arm of a sweep,
// seed by seed.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/experiment/sweep.h"

namespace sim::experiment {

// What a gate can guard: the shares of summary.json of which more is better, so that a loss is a fall.
constexpr std::array<std::string_view, 7> kGateMetrics = {
    "goodput.token", "goodput.stepping", "goodput.time", "goodput.chip", "uptime", "compute_utilization", "participation"};
bool is_gate_metric(const std::string& metric);

// One metric of one point and arm.
struct CurveCell {
  std::string point;            // for people: "failure.chips.mtbi=\"90 d\""; "" without axes
  std::vector<std::string> at;  // values_at(): with the arm, what the cell is matched by
  std::string arm, metric;
  std::vector<std::string> sets;  // the axes' values as --set takes them; none in one that was read
  std::vector<std::uint64_t> seeds;
  std::vector<double> values;            // (seeds)
  std::vector<std::string> trace_hashes;  // (seeds)
};

struct Curve {
  std::vector<std::string> metrics;
  std::string version;
  int stream_layout = 0;
  std::string scenario;           // resolved, with [sweep]
  std::vector<std::string> axes;  // their keys
  std::vector<CurveCell> cells;
};

struct MeasuredCurve {
  SweepOutcome outcome;
  std::optional<Curve> curve;      // when all runs are done and none failed
  // Whose summary has no such number, and which; empty: none.
  std::string arm_without_metric, missing_metric;
};

// Runs the sweep in a temporary folder, which is gone afterwards. Requires: no point held twice.
MeasuredCurve measure_curve(const SweepPlan& plan, int jobs, const SweepTestSwitches& test,
                            const std::function<void(const SweepProgress&)>& on_progress);

}  // namespace sim::experiment

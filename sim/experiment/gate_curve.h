// sim/experiment/gate_curve.h: a curve that a gate guards: one metric at every point and arm of a sweep,
// seed by seed; measured, and as the file that `atoll baseline` writes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/experiment/sweep.h"

namespace sim::experiment {

constexpr int kBaselineFormat = 1;
// A loss that a baseline must be able to show, and the smallest that fails a check by default.
constexpr double kGuardedLoss = 0.015, kSmallestLoss = 0.005;
// How often a curve on which nothing changed may fail.
constexpr double kFamilyAlarm = 0.01;

struct CurveCell {
  std::string point;  // SweepPlan::name_of: "failure.chips.mtbi = ..."; "" without axes
  std::string arm;
  std::vector<std::string> sets;  // the axes' values as --set takes them
  std::vector<std::uint64_t> seeds;
  std::vector<double> values;            // (seeds)
  std::vector<std::string> trace_hashes;  // (seeds)
};

struct Curve {
  std::string metric, version;
  int stream_layout = 0;
  std::string scenario;           // resolved, with [sweep]
  std::vector<std::string> axes;  // their keys
  std::vector<CurveCell> cells;
};

struct MeasuredCurve {
  SweepOutcome outcome;  // kDone: the curve is there; else its message or, of failed runs, `failed`
  std::optional<Curve> curve;
};

// Runs the sweep in a temporary folder, which is gone afterwards.
MeasuredCurve measure_curve(const SweepPlan& plan, int jobs, const SweepTestSwitches& test,
                            const std::function<void(const SweepProgress&)>& on_progress);

// The test's level at one of so many cells.
double tail_of(std::size_t cells);
// The loss that the widest cell lets one find in 95 % of cases, with a second sample like it.
double detectable_loss(const Curve& curve);
// Seeds that the widest cell needs to show kGuardedLoss.
std::size_t seeds_needed(const Curve& curve);

// One JSON object, with a checksum over the rest.
std::string to_json(const Curve& curve);
struct ReadCurve {
  std::optional<Curve> curve;
  std::string trouble;  // "path: error: ..." when there is none
};
ReadCurve read_curve(const std::string& path);

}  // namespace sim::experiment

// sim/experiment/gate.h: a curve against its baseline.
//
// A cell (a metric at a point of an arm) fails when the lower bound of its loss is above 0 and the loss itself above
// the smallest that matters: the first keeps noise from failing a change, the second keeps a loss that
// nobody minds from doing so when many seeds make it certain. A changed version or scenario is what the
// gate is for, and is listed; only another metric or other axes cannot be compared.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/base/diagnostic.h"
#include "sim/experiment/gate_curve.h"
#include "sim/experiment/gate_power.h"
#include "sim/experiment/gate_statistics.h"
#include "sim/experiment/scenario_changes.h"

namespace sim::experiment {

enum class CellVerdict {
  kHeld,
  kWorse,
  kBetter,   // as sure as a loss must be
  kMissing,  // in the baseline only
  kNew,      // not in the baseline
  kChanged,  // exact mode: another trace
};

struct GateCell {
  std::string point, arm, metric;
  CellVerdict verdict = CellVerdict::kHeld;
  double before = 0, after = 0;  // means
  Loss loss{};                   // with bounds at the cell's share of the family-wise level; exact: no bounds
  std::string command;           // that repeats one run of it; empty for a missing cell
  bool fails = false;
};

struct GateOptions {
  double smallest_loss = kSmallestLoss;
  bool exact = false;   // compare trace hashes
  bool strict = false;  // improvements fail, too: both sides share the level
  std::string file;     // of the scenario: what the commands name
  std::vector<std::string> sets;  // laid on it: the same
};

struct GateReport {
  std::vector<std::string> metrics;
  std::string version_before, version_after;
  SeedCounts seeds_before, seeds_after;
  std::string test;       // "paired by seed", "two samples (Welch): ...", "exact"
  bool exact = false, strict = false;
  double tail = 0;        // of each cell, to each side that fails
  double smallest_loss = 0;
  std::vector<ScenarioChange> changes;
  std::vector<GateCell> cells;  // those that fail first, then by falling loss
  bool passed() const;
  std::size_t failures() const;
  std::size_t count(CellVerdict verdict) const;
};

// Why a sweep cannot be compared with the baseline, as a mistake of the file it was read from; or nothing.
std::optional<base::Diagnostic> incomparable(const std::string& file, const Curve& before, const SweepPlan& plan);

// Every seed that any cell has, rising.
std::vector<std::uint64_t> seeds_of(const Curve& curve);
// Leaves each cell that `before` has, too, with the seeds that it has there, if it has all of them.
void keep_seeds_of(const Curve& before, Curve& after);

// Requires: a comparable plan, and at least two seeds a cell unless exact; else std::invalid_argument.
GateReport compare_curves(const Curve& before, const Curve& after, const GateOptions& options);

// For people; for a pull request; for a CI system.
std::string as_text(const GateReport& report);
std::string as_markdown(const GateReport& report);
std::string as_junit(const GateReport& report);
// The same of a check that came to no verdict because a run failed.
std::string failed_run_as_markdown(const std::vector<std::string>& metrics, const std::string& failure);
std::string failed_run_as_junit(const std::vector<std::string>& metrics, const std::string& failure);

}  // namespace sim::experiment

// sim/experiment/comparison.h: arms side by side on the same seeds, as values.
//
// Every figure is a mean over seeds with its 95 % interval; differences are paired by seed against
// the reference, the scenario's first arm. A figure that some seed has not reached has no mean: a
// mean over the seeds that did would flatter the arm.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/experiment/experiment.h"
#include "sim/experiment/statistics.h"

namespace sim::experiment {

struct ComparisonCell {
  std::optional<Estimate> value;       // none: not reached by all seeds, or does not apply
  std::size_t reached;                 // seeds that have the figure
  std::optional<Estimate> difference;  // to the reference arm; none for itself
  bool best;
};

struct ComparisonRow {
  std::string key;     // path in summary.json
  std::string title;   // in full, with the unit
  int decimals;        // see format_figure
  bool shows_difference;
  std::vector<ComparisonCell> cells;  // per arm
};

struct Comparison {
  std::string scenario;
  std::vector<std::string> arms;    // the first is the reference
  // Per arm: "wall", "stepping", "wall and stepping", "recorded faults", "no failures".
  std::vector<std::string> clocks;
  std::vector<std::uint64_t> seeds;
  std::vector<ComparisonRow> rows;
  std::vector<std::string> notes;
};

// Of all runs; the arms are those that occur, in the scenario's order.
// Requires: at least one run and the same seeds for every arm; else std::invalid_argument.
Comparison compare(const scenario::Scenario& scenario, const std::vector<FinishedRun>& runs);

}  // namespace sim::experiment

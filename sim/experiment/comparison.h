// sim/experiment/comparison.h: arms side by side on the same seeds, as values.
//
// Every figure is a mean over seeds with its 95 % interval; differences are paired by seed against
// the reference arm. A figure that some seed has not reached has no mean: a mean over the seeds that
// did would flatter the arm. Time, tokens, joules and dollars to a target loss have the share of
// seeds that reached it and a median, where not reached is infinity.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/experiment/comparison_measures.h"
#include "sim/experiment/experiment.h"
#include "sim/experiment/statistics.h"

namespace sim::experiment {

struct ComparisonCell {
  std::optional<Estimate> value;       // none: not reached by all seeds, or does not apply
  std::size_t reached;                 // seeds that have the figure
  std::optional<Estimate> difference;  // to the reference arm; none for itself
  bool best;
  std::optional<double> median = {};  // of measures to a target; may be infinite
  bool saturated = false;             // a loss whose distance from the floor is below its seed noise
};

struct ComparisonRow {
  Measure measure;
  std::vector<ComparisonCell> cells;  // per arm
};

struct Comparison {
  std::string scenario;
  std::string version, isa_level;
  std::vector<std::string> marks;   // in words
  std::string power;                // what energy was charged with, in words; "" where unknown
  std::vector<std::string> arms;
  std::size_t reference;            // index into arms
  // Per arm: "wall", "stepping", "wall and stepping", "recorded faults", "no failures".
  std::vector<std::string> clocks;
  std::vector<std::uint64_t> seeds;
  std::vector<ComparisonRow> rows;
  std::vector<std::string> notes;
};

// Of all runs; the arms are those that occur, in the scenario's order. `reference`: index of an arm
// in the scenario; none: the first that occurs.
// Requires: at least one run, the same seeds for every arm, a reference that ran; else
//           std::invalid_argument.
Comparison compare(const scenario::Scenario& scenario, const std::vector<FinishedRun>& runs,
                   std::optional<std::size_t> reference = std::nullopt);

}  // namespace sim::experiment

// sim/experiment/gate_format.h: what the three forms of a gate's report have in common.
#pragma once

#include <string>

#include "sim/experiment/gate.h"

namespace sim::experiment {

constexpr std::size_t kGateRowsMax = 30, kGateChangesMax = 20;

const char* word(CellVerdict verdict);  // failing ones in capitals
std::string points(double share);       // 0.0125 -> "1.25"

// "decoupled: failure.chips.mtbi=\"30 d\""; where several metrics are guarded, with the cell's in front.
std::string name_of(const GateReport& report, const GateCell& cell);
// "metric a", "metrics a, b".
std::string in_words(const std::vector<std::string>& metrics);

// Cells of a table's row after the verdict; empty where there is no such figure.
struct GateFigures {
  std::string loss, at_least, before, now;
};
GateFigures figures(const GateReport& report, const GateCell& cell);

// "FAILED: 1 of 3 points; 1 held, 1 better". Points that the baseline has not are counted apart.
std::string verdict_line(const GateReport& report);
// Metric, seeds, test, level and versions; lines.
std::string facts(const GateReport& report);

}  // namespace sim::experiment

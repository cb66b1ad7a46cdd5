// tests/experiment/hand_made_curve.h: curves whose losses are known by hand.
#pragma once

#include <string>
#include <vector>

#include "sim/experiment/gate_curve.h"

namespace sim::experiment {

// Values at seeds 1, 2, ...; every seed has the same trace in every cell that is made so.
inline CurveCell hand_made_cell(const std::string& arm, const std::string& at, const std::vector<double>& values) {
  CurveCell cell;
  cell.point = at;
  if (!at.empty()) cell.at = {at};
  cell.arm = arm;
  cell.metric = "goodput.stepping";
  if (!at.empty()) cell.sets = {at};
  for (std::size_t i = 0; i < values.size(); ++i) {
    cell.seeds.push_back(i + 1);
    cell.trace_hashes.push_back("trace " + std::to_string(i + 1));
  }
  cell.values = values;
  return cell;
}

inline Curve hand_made_curve(std::vector<CurveCell> cells) {
  Curve curve;
  curve.metrics = {"goodput.stepping"};
  curve.version = "1";
  curve.scenario = "format = 1\n";
  curve.cells = std::move(cells);
  return curve;
}

}  // namespace sim::experiment

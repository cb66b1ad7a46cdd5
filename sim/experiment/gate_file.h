// sim/experiment/gate_file.h: a curve as the file that `atoll baseline` writes.
#pragma once

#include <optional>
#include <string>

#include "sim/experiment/gate_curve.h"

namespace sim::experiment {

// Format 1 has one metric, format 2 several; both are read.
constexpr int kBaselineFormat = 2;

// One JSON object, with a checksum over the rest.
std::string to_json(const Curve& curve);

struct ReadCurve {
  std::optional<Curve> curve;
  std::string trouble;  // "path: error: ..." when there is none
};
ReadCurve read_curve(const std::string& path);

}  // namespace sim::experiment

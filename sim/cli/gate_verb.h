// sim/cli/gate_verb.h: what baseline and check share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/cli/command_line.h"
#include "sim/experiment/gate_curve.h"

namespace sim::cli {

struct Measured {
  std::optional<experiment::Curve> curve;
  int exit_code = 0;              // when there is none; the reason was said
  std::string scenario_file;      // what `atoll run` takes
  std::vector<std::string> sets;  // laid on it before the axes
};
Measured measure(const CommandLine& line);

// Whether the whole file was written; says so when not.
bool write_file(const std::string& path, const std::string& text);

}  // namespace sim::cli

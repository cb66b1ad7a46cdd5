// sim/cli/loading.h: the scenario that a command line names, or why there is none.
#pragma once

#include <optional>

#include "sim/cli/command_line.h"
#include "sim/scenario/scenario.h"

namespace sim::cli {

struct Loaded {
  std::optional<scenario::Scenario> scenario;
  int exit_code = 0;  // when there is none; all diagnostics are then on stderr
};

// With --set, --seed and --faults applied.
Loaded load(const CommandLine& line);

}  // namespace sim::cli

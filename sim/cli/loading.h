// sim/cli/loading.h: the scenario that a command line names, or why there is none.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "sim/cli/command_line.h"
#include "sim/scenario/scenario.h"

namespace sim::cli {

struct Loaded {
  std::optional<scenario::Scenario> scenario;
  int exit_code = 0;  // when there is none; all diagnostics are then on stderr
  std::optional<scenario::Scenario> refused;  // as in scenario::LoadResult: to forecast from
};

// With --set, --seed and --faults applied.
Loaded load(const CommandLine& line);

// The index of the arm that `option` names; none when there is no such arm, which stderr then says.
std::optional<std::size_t> arm_named(const std::string& name, const std::string& option,
                                     const std::string& file, const scenario::Scenario& scenario);

}  // namespace sim::cli

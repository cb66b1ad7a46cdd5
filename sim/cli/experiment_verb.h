// sim/cli/experiment_verb.h: what `run` and `compare` share: runs, table, expectations, exit code.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "sim/cli/command_line.h"
#include "sim/scenario/scenario.h"

namespace sim::cli {

// Every arm with every seed; the table goes to stdout, the rest to stderr. Returns the exit code.
// `reference`: the arm that differences are taken against; none: the first.
int run_arms(const CommandLine& line, const scenario::Scenario& scenario,
             const std::vector<std::size_t>& arms,
             std::optional<std::size_t> reference = std::nullopt);

}  // namespace sim::cli

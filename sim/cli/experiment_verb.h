// sim/cli/experiment_verb.h: what `run` and `compare` share: runs, table, expectations, exit code.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "sim/cli/command_line.h"
#include "sim/scenario/scenario.h"
#include "sim/trainer/snapshot_file.h"

namespace sim::cli {

// Every arm with every seed; the table goes to stdout, the rest to stderr. Returns the exit code.
// `reference`: the arm that differences are taken against; none: the first.
// `resume`: where the only run goes on from, or null.
int run_arms(const CommandLine& line, const scenario::Scenario& scenario,
             const std::vector<std::size_t>& arms,
             std::optional<std::size_t> reference = std::nullopt,
             std::shared_ptr<const trainer::SnapshotFile> resume = nullptr);

}  // namespace sim::cli

// sim/cli/experiment_verb.h: what `run` and `compare` share: runs, table, expectations, exit code.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "sim/cli/command_line.h"
#include "sim/scenario/scenario.h"
#include "sim/trainer/snapshot_file.h"

namespace sim::cli {

// Every arm with every seed; the table goes to stdout, the rest to stderr. Returns the exit code.
// `resume`: where the only run goes on from, or null.
int run_arms(const CommandLine& line, const scenario::Scenario& scenario,
             const std::vector<std::size_t>& arms,
             std::shared_ptr<const trainer::SnapshotFile> resume = nullptr);

}  // namespace sim::cli

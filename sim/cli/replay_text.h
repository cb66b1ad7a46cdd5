// sim/cli/replay_text.h: what a replay prints, in each format.
#pragma once

#include <string>

#include "sim/cli/command_line.h"
#include "sim/experiment/replay.h"

namespace sim::cli {

// Requires: an outcome of a replay that took place.
std::string replay_text(const CommandLine& line, const experiment::ReplayOutcome& outcome);

}  // namespace sim::cli

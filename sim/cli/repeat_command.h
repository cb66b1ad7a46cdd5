// sim/cli/repeat_command.h: the command line that does one run of many alone.
#pragma once

#include <cstdint>
#include <string>

#include "sim/cli/command_line.h"

namespace sim::cli {

// Quoted for a shell. It writes no results: what it repeats is the run, not its files.
std::string repeat_command(const CommandLine& line, const std::string& arm, std::uint64_t seed,
                           int threads);

}  // namespace sim::cli

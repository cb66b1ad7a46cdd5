// sim/experiment/command.h: runs another program and takes what it says.
#pragma once

#include <string>
#include <vector>

namespace sim::experiment {

struct CommandResult {
  int exit_code;       // 127: not found; 128 + number after a signal
  std::string output;  // what it wrote to stdout, without the last line feed
  std::string errors;  // the same of stderr
};

// No shell is involved. Signals that are blocked here are not in the program.
// Errors: std::system_error when no process can be had.
CommandResult run_command(const std::vector<std::string>& words);

// For a POSIX shell.
std::string shell_quoted(const std::string& word);

}  // namespace sim::experiment

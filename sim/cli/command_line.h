// sim/cli/command_line.h: what the user asked for, checked as far as it can be without a scenario.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/cli/sweep_line.h"

namespace sim::cli {

enum class Verb {
  kRun, kCompare, kReplay, kValidate, kSchema, kCatalogue, kSweep, kMerge, kBaseline, kCheck
};
enum class Format { kText, kJson, kCsv, kMarkdown };

struct CommandLine {
  Verb verb = Verb::kRun;
  std::string file;
  std::optional<std::string> section;  // of `schema`: this table only
  std::vector<std::string> sets;      // key=value, in the order given
  std::optional<std::string> arm;
  std::optional<std::string> reference;  // of compare: an arm's name
  std::optional<std::uint64_t> seed;  // replaces the scenario's
  std::vector<std::uint64_t> seeds;   // several runs; empty: one
  int jobs = 0;                       // 0: as many as there are cores
  int threads = 0;                    // 0: what the jobs leave
  std::string results = "results";    // empty: write none
  std::string replay_results;         // of `replay`; empty: write none
  bool force = false;
  bool record = false;
  std::string snapshot;               // of `run --resume` and `replay --from`; empty: none
  bool quiet = false;
  Format format = Format::kText;
  std::string faults;                 // recorded list that replaces all failures and faults
  std::optional<double> abort_at_s;   // tests only
  SweepLine sweep;
};

// Either a command, or an exit code after everything was said (help, version, wrong usage).
struct Parsed {
  std::optional<CommandLine> command;
  int exit_code = 0;
};
Parsed parse_command_line(int argc, const char* const* argv);

}  // namespace sim::cli

// sim/cli/gate_verb.cpp: see gate_verb.h.
#include "sim/cli/gate_verb.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "sim/cli/output.h"
#include "sim/cli/sweep_common.h"
#include "sim/cli/verbs.h"

namespace sim::cli {

Measured measure(const CommandLine& line) {
  const LoadedSweep loaded = load_sweep(line, false);
  if (!loaded.plan) return {std::nullopt, loaded.exit_code, "", {}};
  experiment::MeasuredCurve measured =
      experiment::measure_curve(*loaded.plan, sweep_jobs(line), test_switches(line), sweep_progress(line));
  end_progress(line);
  if (measured.curve) return {std::move(measured.curve), 0, loaded.plan->file, loaded.plan->sets};
  switch (measured.outcome.end) {
    case experiment::SweepEnd::kInterrupted:
      return {std::nullopt, experiment::exit_code_of_signal(measured.outcome.signal_number), "", {}};
    case experiment::SweepEnd::kTooManyFailures:
      print_error(measured.outcome.message + "\n");
      return {std::nullopt, kFailedRuns, "", {}};
    case experiment::SweepEnd::kRefused:
      print_error(measured.outcome.message + "\n");
      return {std::nullopt, kMistake, "", {}};
    case experiment::SweepEnd::kFileTrouble:
      print_error(measured.outcome.message + "\n");
      return {std::nullopt, kFileTrouble, "", {}};
    default: print_error("bug: " + measured.outcome.message + "\n"); return {std::nullopt, kBug, "", {}};
  }
}

bool write_file(const std::string& path, const std::string& text) {
  errno = 0;
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (file) return true;
  print_error(fmt::format("{}: error: cannot be written: {}\n", path, std::strerror(errno != 0 ? errno : EIO)));
  return false;
}

}  // namespace sim::cli

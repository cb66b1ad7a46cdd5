// sim/cli/sweep_common.h: what sweep, baseline and check share: loading, workers, the progress line.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "sim/cli/command_line.h"
#include "sim/experiment/sweep.h"
#include "sim/experiment/sweep_load.h"

namespace sim::cli {

struct LoadedSweep {
  std::optional<experiment::SweepPlan> plan;
  int exit_code = 0;  // when there is none; all diagnostics are then on stderr
};
LoadedSweep load_sweep(const CommandLine& line, bool needs_sweep);

// --jobs, at most one for each core: a run of a sweep has one thread.
int sweep_jobs(const CommandLine& line);

// "37 %  371 of 1000 runs, 210/s, 3 s left, 0 failed", on a terminal only.
std::function<void(const experiment::SweepProgress&)> sweep_progress(const CommandLine& line);
void end_progress(const CommandLine& line);

experiment::SweepTestSwitches test_switches(const CommandLine& line);

// Exit code of a sweep that has no tables, after its reason was said; nothing when it has. `all` runs, where
// it is known how many there are.
std::optional<int> say_trouble(const experiment::SweepOutcome& outcome, std::optional<std::uint64_t> all);

}  // namespace sim::cli

// sim/experiment/sweep_workers.h: runs many runs on a few worker processes, each with its journal.
//
// A worker forks a child for its runs, as every run is a child; what needs no network engine shares
// one child for half a second, because a fork costs more than a small run. If such a child dies, its
// runs are done again one by one, and the one that dies alone is the one that failed: a row with its
// reason, and the sweep goes on.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/experiment/interruption.h"
#include "sim/experiment/sweep_plan.h"

namespace sim::experiment {

struct SweepProgress {
  std::uint64_t done, failed, all;
};

// Switches that exist for tests only.
struct SweepTestSwitches {
  std::optional<double> abort_at_s;         // a run aborts at this simulated time ...
  std::optional<std::uint64_t> abort_seed;  // ... only runs of this seed
  double repair_factor = 1.0;               // a simulator whose repairs take another time
};

struct WorkerSettings {
  int jobs;                     // at least 1
  std::string journals;         // existing folder
  std::string sweep, version;   // first line of each journal
  std::string keep;             // folder for the results of each run; empty: none are kept
  std::uint64_t failures_max;   // stop once so many runs have failed
  SweepTestSwitches test;
  std::function<void()> in_worker;  // first thing in each worker; may be empty
  std::function<void(const SweepProgress&)> on_progress;  // may be empty
};

enum class WorkersEnd { kDone, kTooManyFailures, kFileTrouble, kBug, kInterrupted };

struct WorkersOutcome {
  WorkersEnd end = WorkersEnd::kDone;
  std::string message;  // of file trouble and bugs
};

WorkersOutcome run_all(const SweepPlan& plan, const std::vector<RunKey>& pending,
                       const WorkerSettings& settings, InterruptionWatch& watch);

}  // namespace sim::experiment

// sim/experiment/sweep_workers.h: runs many runs on a few worker processes, each with its journal.
//
// A worker forks a child that makes runs, takes their rows and writes them down: a run that crashes
// takes neither the rows before it nor the sweep with it. It is done again in a child of its own; if
// that dies too, the run has failed: a row with its reason, and the sweep goes on.
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
  bool abort_unless_first = false;          // a run aborts where its process has made one before
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

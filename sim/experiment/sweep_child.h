// sim/experiment/sweep_child.h: the process in which runs of a sweep happen, one after another.
//
// A fork costs more than a small run, so a process makes as many runs as it can: those that need the
// network engine one at most, for it exists once per process. Each row leaves as soon as it is made.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/experiment/child_process.h"
#include "sim/experiment/sweep_plan.h"
#include "sim/experiment/sweep_workers.h"

namespace sim::experiment {

constexpr std::uint64_t kNoRun = UINT64_MAX;

// What all processes of a sweep share, in memory that fork does not copy.
struct SweepCounters {
  std::atomic<std::uint64_t> next{0}, done{0}, failed{0};
};

// Where the work of one process comes from.
struct SweepWork {
  const SweepPlan& plan;
  const std::vector<RunKey>& pending;
  const WorkerSettings& settings;
  SweepCounters& counters;
  std::atomic<std::uint64_t>& at_hand;  // index into `pending` of the run that is being made, or kNoRun
  std::optional<std::uint64_t> only;    // this one alone, instead of those that are next
};

// Makes runs and sends a row of each (to_bytes) until there are none left, so many have failed that
// no more are wanted, or the process is used up. Errors: as simulate(); std::system_error from --keep.
void make_runs(const SweepWork& work, const ParentLink& parent);

}  // namespace sim::experiment

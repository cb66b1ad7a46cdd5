// sim/experiment/slurm.h: a sweep as a Slurm job array, a task for each shard.
//
// Every task is `atoll sweep FILE --shard I/N --resume` on a file system that all nodes see, so a task
// that is queued again goes on where it was. Progress comes from the shards' journals; accounting
// (sacct) is not needed. A task that is gone from the queue with its shard incomplete is queued again.
// A coordinator that ends, but by SIGKILL, cancels its tasks; one that resumes finds those that are left.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "sim/experiment/sweep.h"

namespace sim::experiment {

struct SlurmSettings {
  std::string file, results, folder;    // as the command line names them; folder is results/NAME.sweep
  std::vector<std::string> sets;
  std::string seeds;                    // empty: as the file says
  std::optional<double> until_ci;
  std::optional<std::string> metric;
  std::uint64_t shards;                 // 0: one per point; at most 1,000 (MaxArraySize is 1,001)
  std::string time, memory;             // as sbatch takes them; empty: the cluster's
  int cpus;
  std::vector<std::string> options;     // further words for sbatch
  int retries;                          // of each task
  bool force, resume;
  bool keep, retry_failed;              // as SweepSettings has them, in every task
  std::uint64_t failures_max = std::numeric_limits<std::uint64_t>::max();  // over all tasks
  double look_every_s = 10;             // at queue and journals (assumed; other values are for tests)
  SweepTestSwitches test;
  std::function<void(const SweepProgress&)> on_progress;  // may be empty
  std::function<void(const std::string&)> on_note;        // what is worth a line; may be empty
};

// Submits, waits, merges into `folder`. A signal cancels the job; its shards can be resumed.
SweepOutcome run_on_slurm(const SweepPlan& plan, const SlurmSettings& settings);

}  // namespace sim::experiment

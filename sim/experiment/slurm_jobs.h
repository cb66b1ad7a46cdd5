// sim/experiment/slurm_jobs.h: what a sweep on Slurm remembers of its jobs, so that one whose coordinator
// is gone is found again and not submitted a second time.
//
//   shards 3        first line of DIR/slurm/jobs
//   job 4242        one line for each submission
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/experiment/sweep_folder.h"

namespace sim::experiment {

struct SlurmJobs {
  std::uint64_t shards = 0;
  std::vector<std::string> jobs;  // in order of submission
};

// Nothing where no job was submitted yet.
std::optional<SlurmJobs> read_jobs(const SweepFolder& folder);

// Requires: DIR/slurm exists.
// Errors: SlurmTrouble when it cannot be written.
void write_jobs(const SlurmJobs& jobs, const SweepFolder& folder);

}  // namespace sim::experiment

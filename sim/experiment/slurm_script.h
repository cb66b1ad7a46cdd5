// sim/experiment/slurm_script.h: what sbatch gets: the words of its command line and the task's script.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/experiment/slurm.h"

namespace sim::experiment {

// For a POSIX shell. Which shard it is comes from SLURM_ARRAY_TASK_ID.
std::string task_script(const SlurmSettings& settings, std::uint64_t shards);

// `tasks`: "1,2,7"; logs go into `folder`, `script` is the path of the script.
std::vector<std::string> sbatch_words(const SlurmSettings& settings, const std::string& tasks,
                                      const std::string& folder, const std::string& script);

}  // namespace sim::experiment

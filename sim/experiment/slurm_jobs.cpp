// sim/experiment/slurm_jobs.cpp: see slurm_jobs.h.
#include "sim/experiment/slurm_jobs.h"

#include <fmt/format.h>

#include <fstream>

#include "sim/experiment/slurm_commands.h"

namespace sim::experiment {
namespace {

constexpr const char* kName = "slurm/jobs";

}  // namespace

std::optional<SlurmJobs> read_jobs(const SweepFolder& folder) {
  std::ifstream file(folder.path() + "/" + kName, std::ios::binary);
  SlurmJobs found;
  std::string word, job;
  if (!(file >> word >> found.shards) || word != "shards") return std::nullopt;
  while (file >> word >> job) found.jobs.push_back(job);
  return found;
}

void write_jobs(const SlurmJobs& jobs, const SweepFolder& folder) {
  std::string text = fmt::format("shards {}\n", jobs.shards);
  for (const std::string& job : jobs.jobs) text += fmt::format("job {}\n", job);
  if (const auto trouble = folder.write_file(kName, text)) {
    throw SlurmTrouble(trouble->message + "\n  hint: make room; --resume goes on");
  }
}

}  // namespace sim::experiment

// sim/experiment/slurm_commands.h: what Slurm is asked, and what its answers mean.
//
// Parsed is stdout alone: sites print greetings and warnings on stderr. An answer that says nothing of a
// job (Slurm does not answer) is never taken for one that says that the job is gone.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace sim::experiment {

// What Slurm refused or does not do, for the user, with its hint.
class SlurmTrouble : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Errors: SlurmTrouble when Slurm's commands cannot be started.
void require_slurm();

// `words` are what sbatch gets behind --parsable; the job's number.
// Errors: SlurmTrouble when the job is refused or no number is told.
std::string submit_job(const std::vector<std::string>& words);

struct SlurmQueue {
  // Numbers of the job's tasks that are in the queue, in whatever state; nothing: Slurm did not say.
  std::optional<std::set<std::uint64_t>> tasks;
  std::string errors;  // why not
};
SlurmQueue queue_of(const std::string& job);

// Whether Slurm still knew the task.
bool requeue_task(const std::string& job, std::uint64_t task);

void cancel_job(const std::string& job);

}  // namespace sim::experiment

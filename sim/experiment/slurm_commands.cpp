// sim/experiment/slurm_commands.cpp: see slurm_commands.h.
#include "sim/experiment/slurm_commands.h"

#include <fmt/format.h>

#include <charconv>
#include <sstream>
#include <string_view>

#include "sim/experiment/command.h"

namespace sim::experiment {
namespace {

constexpr int kNotFound = 127;

std::optional<std::uint64_t> whole_number(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// The last line is the answer, what stands before it is some site's greeting: "4242" or "4242;cluster".
std::string job_in(const std::string& output) {
  const std::string last = output.substr(output.rfind('\n') + 1);
  return last.substr(0, last.find(';'));
}

}  // namespace

void require_slurm() {
  for (const char* command : {"sbatch", "squeue"}) {
    if (run_command({command, "--version"}).exit_code != kNotFound) continue;
    throw SlurmTrouble(fmt::format("{}: error: cannot be started\n  hint: --executor slurm needs Slurm's commands on the PATH", command));
  }
}

std::string submit_job(const std::vector<std::string>& words) {
  std::vector<std::string> all = {"sbatch", "--parsable"};
  all.insert(all.end(), words.begin(), words.end());
  const CommandResult told = run_command(all);
  if (told.exit_code != 0) {
    throw SlurmTrouble(fmt::format("sbatch: error: refused the job: {}\n  hint: --resume tries again",
                                   told.errors.empty() ? told.output : told.errors));
  }
  const std::string job = job_in(told.output);
  if (whole_number(job)) return job;
  throw SlurmTrouble(fmt::format("sbatch: error: must tell the job's number; got \"{}\"\n"
                                 "  hint: look with squeue whether there is a job, and cancel it before --resume",
                                 told.output));
}

SlurmQueue queue_of(const std::string& job) {
  const CommandResult told = run_command({"squeue", "--noheader", "--array", "--jobs=" + job, "--format=%K"});
  SlurmQueue queue{std::set<std::uint64_t>(), told.errors};
  if (told.exit_code == 0) {
    std::istringstream lines(told.output);
    for (std::string line; std::getline(lines, line);) {
      line.erase(line.find_last_not_of(" \r") + 1);
      if (const auto number = whole_number(line)) queue.tasks->insert(*number);
    }
  } else if (told.errors.find("Invalid job id specified") == std::string::npos) {
    queue.tasks = std::nullopt;  // else Slurm has forgotten the job: nothing of it is queued
  }
  return queue;
}

bool requeue_task(const std::string& job, std::uint64_t task) {
  return run_command({"scontrol", "requeue", fmt::format("{}_{}", job, task)}).exit_code == 0;
}

void cancel_job(const std::string& job) { run_command({"scancel", job}); }

}  // namespace sim::experiment

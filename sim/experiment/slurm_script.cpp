// sim/experiment/slurm_script.cpp: see slurm_script.h.
#include "sim/experiment/slurm_script.h"

#include <fmt/format.h>

#include <filesystem>

#include "sim/experiment/command.h"

namespace sim::experiment {
namespace {

namespace fs = std::filesystem;

std::string test_words(const SweepTestSwitches& test) {
  std::string words;
  if (test.abort_at_s) words += fmt::format(" --abort-at {}", *test.abort_at_s);
  if (test.abort_seed) words += fmt::format(" --abort-seed {}", *test.abort_seed);
  if (test.repair_factor != 1.0) words += fmt::format(" --test-repair-factor {}", test.repair_factor);
  return words;
}

}  // namespace

std::string task_script(const SlurmSettings& s, std::uint64_t shards) {
  std::string command = shell_quoted(fs::read_symlink("/proc/self/exe").string()) + " sweep " + shell_quoted(s.file);
  for (const std::string& set : s.sets) command += " --set " + shell_quoted(set);
  if (!s.seeds.empty()) command += " --seeds " + s.seeds;
  if (s.until_ci) command += fmt::format(" --until-ci {}", *s.until_ci);
  if (s.metric) command += " --metric " + shell_quoted(*s.metric);
  if (s.keep) command += " --keep";
  if (s.retry_failed) command += " --retry-failed";
  command += test_words(s.test);
  command += fmt::format(" --results {} --jobs {} --resume --quiet --yes --shard \"$SLURM_ARRAY_TASK_ID/{}\"",
                         shell_quoted(s.results), s.cpus, shards);
  return fmt::format("#!/bin/sh\n# One shard of a sweep; queued again, it goes on where it was.\ncd {}\nexec {}\n",
                     shell_quoted(fs::current_path().string()), command);
}

std::vector<std::string> sbatch_words(const SlurmSettings& s, const std::string& tasks, const std::string& folder,
                                      const std::string& script) {
  std::vector<std::string> words = {"--requeue", "--open-mode=append", "--job-name=atoll-sweep", "--array=" + tasks,
                                    fmt::format("--cpus-per-task={}", s.cpus),
                                    "--output=" + folder + "/shard-%a.log"};
  if (!s.time.empty()) words.push_back("--time=" + s.time);
  if (!s.memory.empty()) words.push_back("--mem=" + s.memory);
  words.insert(words.end(), s.options.begin(), s.options.end());
  words.push_back(script);
  return words;
}

}  // namespace sim::experiment

// sim/cli/sweep_line.h: options of sweep, merge, baseline and check, beside those that all verbs have.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace sim::cli {

struct CommandLine;

struct SweepLine {
  bool resume = false, dry_run = false, yes = false, keep = false, fail_fast = false, retry_failed = false;
  std::uint64_t failures_max = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t shard_number = 1, shard_count = 1;
  std::optional<double> until_ci;
  std::vector<std::string> metrics;  // of sweep at most one
  bool slurm = false;                       // --executor slurm
  std::uint64_t slurm_shards = 0;           // 0: as many as there are points, at most 1,000
  std::string slurm_time, slurm_memory;     // as sbatch takes them; empty: the cluster's default
  int slurm_cpus = 1;
  std::vector<std::string> slurm_options;   // further words for sbatch
  int slurm_retries = 2;
  double slurm_look_every_s = 10;           // tests only: another value
  std::vector<std::string> folders;         // of merge
  std::string out;                          // of merge and baseline
  std::string baseline, junit, markdown;    // of check
  bool exact = false, strict = false;
  double smallest_points = 0.5;
  std::optional<std::uint64_t> abort_seed;  // tests only
  double repair_factor = 1.0;               // tests only
};

// Adds the four verbs. Which one was used is seen by its name.
void add_sweep_verbs(CLI::App& app, CommandLine& line);

}  // namespace sim::cli

// sim/cli/run.cpp: `atoll run`: one arm, one or many seeds.
#include "sim/cli/experiment_verb.h"
#include "sim/cli/loading.h"
#include "sim/cli/snapshot_loading.h"
#include "sim/cli/verbs.h"
#include "sim/scenario/load.h"

namespace sim::cli {
namespace {

// The run that a snapshot was taken of, from there on.
int resume(const CommandLine& line) {
  const LoadedSnapshot snapshot = load_snapshot(line.snapshot);
  if (!snapshot.file) return snapshot.exit_code;
  CommandLine with_seed = line;
  with_seed.seed = snapshot.file->origin.seed;
  const Loaded loaded = load(with_seed);
  if (!loaded.scenario) return loaded.exit_code;
  const std::vector<scenario::Arm>& arms = loaded.scenario->arms;
  for (std::size_t arm = 0; arm < arms.size(); ++arm) {
    const auto& origin = snapshot.file->origin;
    const std::string& name = arms[arm].training.name;
    if (name != origin.arm) continue;
    if (scenario::run_hash(*loaded.scenario, name) != origin.scenario_hash) break;
    return run_arms(with_seed, *loaded.scenario, {arm}, std::nullopt, snapshot.file);
  }
  say_other_scenario(line.file, line.snapshot);
  return kMistake;
}

}  // namespace

int run(const CommandLine& line) {
  if (!line.snapshot.empty()) return resume(line);
  const Loaded loaded = load(line);
  if (!loaded.scenario) return loaded.exit_code;
  std::size_t arm = 0;
  if (line.arm) {
    const auto found = arm_named(*line.arm, "--arm", line.file, *loaded.scenario);
    if (!found) return kMistake;
    arm = *found;
  }
  return run_arms(line, *loaded.scenario, {arm});
}

}  // namespace sim::cli

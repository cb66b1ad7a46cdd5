// sim/cli/run.cpp: `atoll run`: one arm, one or many seeds.
#include <fmt/format.h>

#include "sim/base/diagnostic.h"
#include "sim/cli/experiment_verb.h"
#include "sim/cli/loading.h"
#include "sim/cli/output.h"
#include "sim/cli/snapshot_loading.h"
#include "sim/cli/verbs.h"
#include "sim/scenario/load.h"

namespace sim::cli {
namespace {

std::vector<std::string> arm_names(const scenario::Scenario& scenario) {
  std::vector<std::string> names;
  for (const scenario::Arm& arm : scenario.arms) names.push_back(arm.training.name);
  return names;
}

// The arm's index, or said what is wrong.
std::optional<std::size_t> arm_named(const std::string& wanted, const std::string& file,
                                     const std::vector<std::string>& names) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == wanted) return i;
  }
  base::Diagnostic diagnostic;
  diagnostic.file = file;
  diagnostic.key = "--arm";
  diagnostic.message = fmt::format("no such arm; got {}", wanted);
  const std::string near = base::nearest_name(wanted, names);
  diagnostic.hint = near.empty() ? fmt::format("arms here are {}", fmt::join(names, ", "))
                                 : fmt::format("did you mean '{}'?", near);
  print_error(base::format(std::vector{diagnostic}));
  return std::nullopt;
}

// The run that a snapshot was taken of, from there on.
int resume(const CommandLine& line) {
  const LoadedSnapshot snapshot = load_snapshot(line.snapshot);
  if (!snapshot.file) return snapshot.exit_code;
  CommandLine with_seed = line;
  with_seed.seed = snapshot.file->origin.seed;
  const Loaded loaded = load(with_seed);
  if (!loaded.scenario) return loaded.exit_code;
  const std::vector<std::string> names = arm_names(*loaded.scenario);
  for (std::size_t arm = 0; arm < names.size(); ++arm) {
    const auto& origin = snapshot.file->origin;
    if (names[arm] != origin.arm) continue;
    if (scenario::run_hash(*loaded.scenario, names[arm]) != origin.scenario_hash) break;
    return run_arms(with_seed, *loaded.scenario, {arm}, snapshot.file);
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
    const auto found = arm_named(*line.arm, line.file, arm_names(*loaded.scenario));
    if (!found) return kMistake;
    arm = *found;
  }
  return run_arms(line, *loaded.scenario, {arm});
}

}  // namespace sim::cli

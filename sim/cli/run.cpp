// sim/cli/run.cpp: `atoll run`: one arm, one or many seeds.
#include "sim/cli/experiment_verb.h"
#include "sim/cli/loading.h"
#include "sim/cli/verbs.h"

namespace sim::cli {

int run(const CommandLine& line) {
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

// sim/cli/compare.cpp: `atoll compare`: all arms on the same failures and seeds, one table.
#include <numeric>

#include "sim/cli/experiment_verb.h"
#include "sim/cli/loading.h"
#include "sim/cli/verbs.h"

namespace sim::cli {

int compare(const CommandLine& line) {
  const Loaded loaded = load(line);
  if (!loaded.scenario) return loaded.exit_code;
  std::optional<std::size_t> reference;
  if (line.reference) {
    reference = arm_named(*line.reference, "--reference", line.file, *loaded.scenario);
    if (!reference) return kMistake;
  }
  std::vector<std::size_t> arms(loaded.scenario->arms.size());
  std::iota(arms.begin(), arms.end(), std::size_t{0});
  return run_arms(line, *loaded.scenario, arms, reference);
}

}  // namespace sim::cli

// sim/experiment/proxy.cpp: see proxy.h.
#include "sim/experiment/proxy.h"

#include "sim/experiment/version.h"
#include "sim/scenario/load.h"

namespace sim::experiment {

trainer::TrainerOptions trainer_options(const scenario::Arm& arm, std::uint64_t seed,
                                        std::size_t threads) {
  return {.learning = arm.learning,
          .inner = arm.training.inner,
          .outer = arm.training.outer,
          .merge = arm.training.merge,
          .mixing = arm.training.mixing,
          .wire = arm.training.wire,
          .anchor = methods::meets_at_barriers(arm.training.method) ? trainer::Anchor::kReceived
                                                                    : trainer::Anchor::kCurrent,
          .seed = seed,
          .threads = threads};
}

trainer::SnapshotOrigin snapshot_origin(const scenario::Scenario& scenario, const scenario::Arm& arm,
                                        std::uint64_t seed) {
  return {.version = version_text(),
          .scenario_hash = scenario::run_hash(scenario, arm.training.name),
          .arm = arm.training.name,
          .seed = seed};
}

}  // namespace sim::experiment

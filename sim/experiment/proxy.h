// sim/experiment/proxy.h: the mathematics that an arm asks for, and whose it is.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sim/scenario/scenario.h"
#include "sim/trainer/snapshot_file.h"
#include "sim/trainer/trainer.h"

namespace sim::experiment {

// Without snapshots. Requires: a model; the trainer says so.
trainer::TrainerOptions trainer_options(const scenario::Arm& arm, std::uint64_t seed,
                                        std::size_t threads);

// Of a run of this build. Requires: an arm of the scenario; else std::invalid_argument.
trainer::SnapshotOrigin snapshot_origin(const scenario::Scenario& scenario, const scenario::Arm& arm,
                                        std::uint64_t seed);

}  // namespace sim::experiment

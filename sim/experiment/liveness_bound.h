// sim/experiment/liveness_bound.h: how long a learner may be in no merge when nothing is wrong any more.
#pragma once

#include "sim/scenario/scenario.h"

namespace sim::experiment {

// What the law of liveness allows (sim/readers/liveness.h):
//   2 H steps of the slowest learner, waiting for links included,
//   + twice the copies that one learner's return takes one after another (its state, and the global
//     fragments with their outer state) over the slowest way, shared by all learners of the fleet,
//   + detection, timeout, restart, downscale, upscale and the loading of a checkpoint.
// Twice, since a learner may come back just after its fragment's turn, and its copies share their way
// with the fragments that go on being merged.
// Data parallel has rounds of one step.
base::Nanoseconds liveness_bound(const scenario::Scenario& scenario, const scenario::Arm& arm);

}  // namespace sim::experiment

// sim/scenario/overlap_fit.h: the smallest overlap_steps (tau) that an arm's syncs fit into.
#pragma once

#include <cstdint>

#include "sim/methods/fleet.h"
#include "sim/scenario/merge_forecast.h"

namespace sim::scenario {

struct OverlapFit {
  std::int64_t overlap_steps = 0;  // at least 1 (0 where sync_every is 1), at most sync_every - 1
  bool fits = true;                // false: even that is too short
  double needed_steps = 0;         // before it is rounded up
};

// Decoupled DiLoCo with grace: of M learners, whatever their phases, all report within (M-1)/M of a step
// after the widest gap between two of them. The syncer may wait that long where
//   gamma x (tau x step - quorum - sync) >= (M-1)/M step        (decide_grace, paper Eq. 3)
// so tau >= sync / step + quorum / step + (M-1) / (M gamma). Without grace: tau >= (sync + quorum) / step.
// At barriers: tau >= sync / step, with the slowest learner's step.
// The sync is the longest fragment's, nothing else on the links.
OverlapFit overlap_fit(const Scenario& scenario, const Arm& arm, const methods::Fleet& fleet,
                       const WideReduce& wide, NominalPlans& plans);

}  // namespace sim::scenario

// sim/experiment/sweep_points.h: reads the points of a plan before anything runs.
#pragma once

#include "sim/base/schema.h"
#include "sim/experiment/sweep_plan.h"

namespace sim::experiment {

// Mistakes told at most, of one sweep.
constexpr std::size_t kMistakesTold = 10;

// A small sweep point by point; of a large one each value of each axis, the others at their first. Adds a
// problem for a point that is no legal scenario, and for two that are the same one; fills plan.files.
void check_points(SweepPlan& plan, base::Problems& problems);

}  // namespace sim::experiment

// sim/experiment/sweep_overrides.h: does an axis undo what makes an arm?
#pragma once

#include <optional>
#include <string>

#include "sim/experiment/sweep_plan.h"

namespace sim::experiment {

// The first of the sweep's arms whose own [[arm]] table gives a value to `key`. An axis on it would lie
// over that value, and arms that differ in it would become equal.
std::optional<std::string> arm_that_sets(const SweepPlan& plan, const std::string& key);

}  // namespace sim::experiment

// sim/experiment/sweep_overrides.h: arms as the file writes them: what each sets itself, and a file with
// some of them only.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/experiment/sweep_plan.h"

namespace sim::experiment {

// The first of the sweep's arms whose own [[arm]] table gives a value to `key`. An axis on it would lie
// over that value, and arms that differ in it would become equal.
std::optional<std::string> arm_that_sets(const SweepPlan& plan, const std::string& key);

// The scenario's text without [sweep], [expect] and those [[arm]] whose names are not among `names`; on
// other lines than before. [training], the first arm, stays.
std::string text_of_arms(const std::string& text, const std::vector<std::string>& names);

}  // namespace sim::experiment

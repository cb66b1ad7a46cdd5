// sim/experiment/sweep_base.h: the base of a sweep as text that stands alone.
//
// As given, not resolved: a value that was derived (the watts of a chip, the price of [cost], a default that
// depends on the method) must be derived anew at each point, or an axis on what it comes from would do
// nothing.
#pragma once

#include <string>
#include <vector>

#include "sim/base/value.h"
#include "sim/experiment/sweep_plan.h"

namespace sim::experiment {

// The keys of a table, one a line.
std::string lines_of(const base::Value& table);

// The plan's scenario without comments, [sweep] and [expect]; nothing is laid on it. Recorded faults that it
// takes from files stand in it. Other files are named as given.
//
// Differs: files of faults stay named, with their checksums, where a key of the sweep counts faults
//          ("fault.1.at"): rows taken in would be counted too.
std::string base_text(const SweepPlan& plan);

// The scenario's text without [sweep], [expect] and those [[arm]] whose names are not among `names`; on
// other lines than before. [training], the first arm, stays.
std::string text_of_arms(const std::string& text, const std::vector<std::string>& names);

}  // namespace sim::experiment

// sim/scenario/failure_warnings.h: failure models that are legal and probably not what was meant.
#pragma once

#include <string>
#include <vector>

#include "sim/base/diagnostic.h"
#include "sim/scenario/scenario.h"

namespace sim::scenario {

// Warnings, the same for several arms once; `file` is what they are told of.
//
// By the wall clock a unit fails also while it is down, so it is up less than mtbi / (mtbi + repair):
// exp(-repair / mtbi) of the time for exponential lives and a constant repair. At a tenth the two are
// half a percent apart; from there on it is told.
std::vector<base::Diagnostic> failure_warnings(const Scenario& scenario, const std::string& file);

}  // namespace sim::scenario

// sim/experiment/faults_never_met.h: scripted faults that did not strike, in words.
#pragma once

#include <string>
#include <vector>

#include "sim/chaos/injector.h"

namespace sim::experiment {

// One text each, by its place in the arm's list: "fault 2 (kill region:us-west at 2 h): the run ended at
// 1 h". At most twenty, and one more that says how many are left out. `ended_at` is the end of the run.
std::vector<std::string> faults_never_met(const std::vector<chaos::Injector::NeverMet>& faults,
                                          base::Nanoseconds ended_at);

}  // namespace sim::experiment

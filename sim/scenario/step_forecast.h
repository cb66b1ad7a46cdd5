// sim/scenario/step_forecast.h: what a step of one learner takes, its slices' all-reduce included.
#pragma once

#include <vector>

#include "sim/methods/fleet.h"
#include "sim/scenario/link_forecast.h"

namespace sim::scenario {

struct LearnerStep {
  base::Nanoseconds compute;  // of its slowest slice
  base::Nanoseconds exposed;  // exchange of gradients that the backward pass does not hide
  bool is_wide;               // the exchange crosses links
};

// As sim/methods/elastic_step.cpp spends it, nobody else on the links.
LearnerStep learner_step(const Scenario& scenario, const methods::TrainingOptions& training,
                         const methods::Fleet& fleet, const tape::LearnerShape& learner,
                         NominalPlans& plans);

// Seconds of every learner's step, with the mean of its spread; at least a nanosecond each.
std::vector<double> learner_steps_s(const Scenario& scenario, const methods::TrainingOptions& training,
                                    const methods::Fleet& fleet, NominalPlans& plans);

}  // namespace sim::scenario

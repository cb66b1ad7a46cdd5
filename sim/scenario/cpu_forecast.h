// sim/scenario/cpu_forecast.h: what a run's mathematics and world take of a processor, for a first idea.
#pragma once

#include <string_view>

#include "sim/trainer/learning_options.h"

namespace sim::scenario {

struct CpuRate {
  double flop_per_s;           // of one core, in steps of the proxy; 0: there is no mathematics
  std::string_view certainty;  // "measured", "assumed"
};
CpuRate cpu_rate(optim::ModelKind kind);

// Seconds on one core of `global_steps` steps of the whole batch and `learner_steps` of all learners.
double cpu_seconds(const trainer::LearningOptions& learning, double global_steps, double learner_steps);

}  // namespace sim::scenario

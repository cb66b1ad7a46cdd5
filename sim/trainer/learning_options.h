// sim/trainer/learning_options.h: the proxy: what is really trained, as plain values.
#pragma once

#include <cstdint>

#include "optim/inner_optimizer.h"
#include "optim/model.h"
#include "optim/task.h"

namespace sim::trainer {

struct LearningOptions {
  optim::ModelOptions model;     // kind kNone: no mathematics
  optim::TaskOptions task;
  std::int64_t batch;            // examples per global step = slots
  optim::ScheduleOptions schedule;
  std::int64_t evaluations;      // points of the token grid
};

}  // namespace sim::trainer

// sim/trainer/learning_options.h: the proxy: what is really trained, as plain values.
#pragma once

#include <cstdint>
#include <string>

#include "optim/inner_optimizer.h"
#include "optim/model.h"
#include "optim/task.h"

namespace sim::trainer {

// The file that examples come from; empty for tasks without one.
struct DataOptions {
  std::string file;       // as written; beside the scenario unless it is absolute
  std::string target;     // csv: the column that holds the class
  std::string checksum;   // of the content: sixteen hex digits
  std::int64_t bytes = 0; // of the content
};

struct LearningOptions {
  optim::ModelOptions model;     // kind kNone: no mathematics
  optim::TaskOptions task;       // with the file's content
  DataOptions data;
  std::int64_t batch;            // examples per global step = slots
  optim::ScheduleOptions schedule;
  std::int64_t evaluations;      // points of the token grid
};

}  // namespace sim::trainer

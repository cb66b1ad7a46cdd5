// sim/trainer/learner_state.h: what a learner is made of, and stretches of its steps.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "optim/aligned_block.h"
#include "optim/inner_optimizer.h"
#include "sim/trainer/membership.h"
#include "sim/trainer/task_graph.h"

namespace sim::trainer {

// What recovery copies and a checkpoint holds.
struct LearnerState {
  optim::AlignedBlock parameters;  // (block_size)
  optim::InnerState inner;
};

// A block or a state that one node writes once and any number of later nodes read.
struct SharedBlock {
  NodeId producer = kNoNode;
  optim::AlignedBlock values;  // empty until the producer has run
};
struct SharedState {
  NodeId producer = kNoNode;
  LearnerState state;
};

// Steps back to back on the same slots; step i has data step first_step + i and stands at
// schedule_step + i of the learning-rate schedule.
struct StepRun {
  std::uint32_t first_step, schedule_step, count;
  std::shared_ptr<const SlotList> slots;
};

// Appends a run, or lengthens the last one that it continues.
inline void append_run(std::vector<StepRun>& runs, StepRun run) {
  if (!runs.empty()) {
    StepRun& last = runs.back();
    if (last.slots == run.slots && last.first_step + last.count == run.first_step &&
        last.schedule_step + last.count == run.schedule_step) {
      last.count += run.count;
      return;
    }
  }
  runs.push_back(std::move(run));
}

}  // namespace sim::trainer

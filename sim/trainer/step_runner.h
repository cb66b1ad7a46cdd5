// sim/trainer/step_runner.h: carries out a learner's steps: examples, gradient, inner update.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "optim/aligned_block.h"
#include "optim/batch.h"
#include "optim/inner_optimizer.h"
#include "optim/model.h"
#include "optim/task.h"
#include "sim/trainer/crew.h"
#include "sim/trainer/learner_state.h"

namespace sim::trainer {

class StepRunner {
 public:
  struct Options {
    optim::InnerOptions inner;
    optim::ScheduleOptions schedule;
    std::uint64_t batch_tokens;  // nominal, of one global step: what a schedule step counts
  };

  // Keeps references to model and task. `worker_count`: one scratch space each.
  StepRunner(const Options& options, const optim::Model& model, const optim::Task& task,
             std::size_t worker_count);

  // For each step of the runs, in order:
  //   gradient = (sum over chunks, in chunk order, of the chunk's gradient sum) / examples
  //   rate     = factor at tokens = schedule_step * batch_tokens
  // then one inner update. A step without slots changes nothing at all.
  // Order: the bits depend on the slots only, not on who computes a chunk.
  void run(std::span<const StepRun> runs, LearnerState& state, const Worker& worker);

  // Mean loss on the task's held-out set.
  double held_out_loss(std::span<const float> parameters, const Worker& worker);

 private:
  struct Scratch {
    optim::Batch batch;
    std::vector<float> model;                   // the model's own
    std::vector<optim::AlignedBlock> gradients;  // one per chunk when chunks are shared, else two
  };

  void step(std::uint32_t data_step, const SlotList& slots, double factor, LearnerState& state,
            const Worker& worker);
  void sum_alone(std::uint32_t data_step, const SlotList& slots, std::span<const float> parameters,
                 const Worker& worker);
  void sum_shared(std::uint32_t data_step, const SlotList& slots, std::span<const float> parameters,
                  const Worker& worker);
  void chunk_gradient(std::uint32_t data_step, const SlotList& slots, std::size_t chunk,
                      std::span<const float> parameters, std::span<float> gradient,
                      const Worker& worker);
  std::vector<optim::AlignedBlock>& gradients(std::size_t count, const Worker& worker);

  Options options_;
  const optim::Model& model_;
  const optim::Task& task_;
  std::vector<Scratch> scratch_;  // (workers)
};

}  // namespace sim::trainer

// sim/trainer/step_runner.cpp: see step_runner.h.
#include "sim/trainer/step_runner.h"

#include <algorithm>

#include "optim/elementwise.h"

namespace sim::trainer {

StepRunner::StepRunner(const Options& options, const optim::Model& model, const optim::Task& task,
                       std::size_t worker_count)
    : options_(options), model_(model), task_(task), scratch_(worker_count) {}

void StepRunner::run(std::span<const StepRun> runs, LearnerState& state, const Worker& worker) {
  for (const StepRun& run : runs) {
    if (run.slots->slots.empty()) continue;
    for (std::uint32_t i = 0; i < run.count; ++i) {
      const double tokens = (static_cast<double>(run.schedule_step) + static_cast<double>(i)) *
                            static_cast<double>(options_.batch_tokens);
      const double factor = optim::schedule_factor(options_.schedule, tokens);
      step(run.first_step + i, *run.slots, factor, state, worker);
    }
  }
}

void StepRunner::step(std::uint32_t data_step, const SlotList& slots, double factor,
                      LearnerState& state, const Worker& worker) {
  const std::span<const float> parameters = state.parameters.span();
  if (slots.chunks.size() > 1 && worker.crew->has_idle()) {
    sum_shared(data_step, slots, parameters, worker);
  } else {
    sum_alone(data_step, slots, parameters, worker);
  }
  const std::span<float> gradient = gradients(1, worker).front().span();
  const float share = static_cast<float>(1.0 / static_cast<double>(slots.slots.size()));
  optim::scale(gradient, share);
  optim::inner_update(options_.inner, factor, model_, state.parameters.span(), gradient,
                      state.inner);
}

void StepRunner::sum_alone(std::uint32_t data_step, const SlotList& slots,
                           std::span<const float> parameters, const Worker& worker) {
  const std::size_t chunk_count = slots.chunks.size();
  std::vector<optim::AlignedBlock>& blocks =
      gradients(std::min<std::size_t>(chunk_count, 2), worker);
  chunk_gradient(data_step, slots, 0, parameters, blocks[0].span(), worker);
  for (std::size_t chunk = 1; chunk < chunk_count; ++chunk) {
    chunk_gradient(data_step, slots, chunk, parameters, blocks[1].span(), worker);
    optim::add(blocks[0].span(), blocks[1].span());
  }
}

void StepRunner::sum_shared(std::uint32_t data_step, const SlotList& slots,
                            std::span<const float> parameters, const Worker& worker) {
  const std::size_t chunk_count = slots.chunks.size();
  std::vector<optim::AlignedBlock>& blocks = gradients(chunk_count, worker);
  worker.crew->share(
      chunk_count,
      [&](std::size_t chunk, const Worker& who) {
        chunk_gradient(data_step, slots, chunk, parameters, blocks[chunk].span(), who);
      },
      worker);
  for (std::size_t chunk = 1; chunk < chunk_count; ++chunk) {
    optim::add(blocks[0].span(), blocks[chunk].span());
  }
}

void StepRunner::chunk_gradient(std::uint32_t data_step, const SlotList& slots, std::size_t chunk,
                                std::span<const float> parameters, std::span<float> gradient,
                                const Worker& worker) {
  Scratch& scratch = scratch_[worker.index];
  scratch.batch.examples = 0;
  scratch.batch.inputs.clear();
  scratch.batch.tokens.clear();
  scratch.batch.targets.clear();
  const SlotList::Chunk range = slots.chunks[chunk];
  for (std::uint32_t i = 0; i < range.count; ++i) {
    task_.append_example(data_step, slots.slots[range.first + i], scratch.batch);
  }
  std::ranges::fill(gradient, 0.0f);
  model_.loss_and_gradient(parameters, scratch.batch, gradient, scratch.model);
}

std::vector<optim::AlignedBlock>& StepRunner::gradients(std::size_t count, const Worker& worker) {
  std::vector<optim::AlignedBlock>& blocks = scratch_[worker.index].gradients;
  while (blocks.size() < count) blocks.emplace_back(model_.block_size());
  return blocks;
}

double StepRunner::held_out_loss(std::span<const float> parameters, const Worker& worker) {
  const optim::Batch& batch = task_.held_out();
  const double sum = model_.loss(parameters, batch, scratch_[worker.index].model);
  return sum / static_cast<double>(batch.examples);
}

}  // namespace sim::trainer

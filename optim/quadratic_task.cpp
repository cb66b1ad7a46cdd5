// optim/quadratic_task.cpp: see quadratic_task.h.
#include "optim/quadratic_task.h"

#include <cmath>
#include <stdexcept>

#include "optim/example_stream.h"
#include "optim/normals.h"

namespace optim {

QuadraticTask::QuadraticTask(const TaskOptions& options, std::uint64_t seed)
    : noise_(options.noise), optimum_(options.inputs), examples_(seed, "task/quadratic/examples") {
  if (options.shards.kind != ShardKind::kIid) {
    throw std::invalid_argument("a quadratic's examples have neither classes nor order for shards");
  }
  sim::base::Stream stream(seed, "task/quadratic/optimum");
  set_normals(stream, optimum_);
  const sim::base::Stream held_out(seed, "task/quadratic/held-out");
  for (std::uint32_t i = 0; i < options.held_out_examples; ++i) {
    append(example_stream(held_out, i, 0), held_out_);
  }
}

void QuadraticTask::append_example(std::uint32_t step, std::uint32_t slot, Batch& batch) const {
  append(example_stream(examples_, step, slot), batch);
}

double QuadraticTask::loss_floor() const {
  return 0.5 * noise_ * noise_ * static_cast<double>(optimum_.size());
}

void QuadraticTask::append(sim::base::Stream stream, Batch& batch) const {
  const std::size_t first = batch.inputs.size();
  batch.inputs.resize(first + optimum_.size());
  const std::span<float> example(batch.inputs.data() + first, optimum_.size());
  set_normals(stream, example);
  const auto noise = static_cast<float>(noise_);
  for (std::size_t i = 0; i < example.size(); ++i) {
    example[i] = std::fma(noise, example[i], optimum_[i]);
  }
  ++batch.examples;
}

}  // namespace optim

// tests/optim/shifted_arena.h: training at another address, for the law that addresses move no bit.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "optim/aligned_block.h"
#include "optim/inner_optimizer.h"
#include "optim/model.h"

namespace optim {

// Some AdamW steps with parameters and gradient `shift` floats past a cache line; the parameters.
inline std::vector<float> trained_at(const ModelOptions& options, std::size_t shift, std::uint64_t steps,
                                     const std::function<Batch(std::uint64_t step)>& batch_of) {
  const auto model = make_model(options);
  const std::size_t size = model->block_size();
  AlignedBlock arena(2 * size + 2 * kFloatsPerLine);
  const std::span<float> parameters(arena.data() + shift, size);
  const std::span<float> gradient(arena.data() + shift + size, size);
  const InnerOptions inner{InnerKind::kAdamW, 0.01, 0.9, 0.99, 1e-8, 0.1, 0.5};
  InnerState state = make_inner_state(inner, size);
  model->initialise(1, parameters);
  std::vector<float> scratch;
  for (std::uint64_t step = 0; step < steps; ++step) {
    std::ranges::fill(gradient, 0.0f);
    model->loss_and_gradient(parameters, batch_of(step), gradient, scratch);
    inner_update(inner, 1.0, *model, parameters, gradient, state);
  }
  return {parameters.begin(), parameters.end()};
}

}  // namespace optim

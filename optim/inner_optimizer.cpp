// optim/inner_optimizer.cpp: clipping, SGD and AdamW; see inner_optimizer.h for the equations.
#include "optim/inner_optimizer.h"

#include <array>
#include <cmath>

#include "optim/check_shape.h"
#include "sim/base/elementary.h"

namespace optim {
namespace {

constexpr std::size_t kNormLanes = 16;

double norm(std::span<const float> values) {
  std::array<double, kNormLanes> lanes{};
  std::size_t i = 0;
  for (; i + kNormLanes <= values.size(); i += kNormLanes) {
    for (std::size_t lane = 0; lane < kNormLanes; ++lane) {
      const double value = values[i + lane];
      lanes[lane] += value * value;
    }
  }
  for (std::size_t lane = 0; i + lane < values.size(); ++lane) {
    const double value = values[i + lane];
    lanes[lane] += value * value;
  }
  double sum = 0.0;
  for (const double lane : lanes) sum += lane;
  return std::sqrt(sum);
}

void clip(double clip_norm, std::span<float> gradient) {
  if (clip_norm == 0.0) return;
  const double length = norm(gradient);
  if (!(length > clip_norm)) return;
  const auto scale = static_cast<float>(clip_norm / length);
  for (float& g : gradient) g *= scale;
}

// The AdamW step with its constants folded, so that an element costs one root and one division:
//   theta = theta (1 - rate wd) - (rate / (1 - beta1^t)) m / (sqrt(v) / sqrt(1 - beta2^t) + eps)
struct AdamWStep {
  float beta1, one_minus_beta1, beta2, one_minus_beta2;
  float step_size, root_scale, epsilon;
};

AdamWStep fold_constants(const InnerOptions& options, double rate, std::uint64_t updates) {
  const auto t = static_cast<double>(updates);
  const double first_correction = 1.0 - sim::base::power(options.beta1, t);
  const double second_correction = 1.0 - sim::base::power(options.beta2, t);
  return {static_cast<float>(options.beta1),
          static_cast<float>(1.0 - options.beta1),
          static_cast<float>(options.beta2),
          static_cast<float>(1.0 - options.beta2),
          static_cast<float>(rate / first_correction),
          static_cast<float>(1.0 / std::sqrt(second_correction)),
          static_cast<float>(options.epsilon)};
}

void adamw(const AdamWStep& step, float shrink, std::size_t count, float* __restrict theta,
           const float* __restrict gradient, float* __restrict first, float* __restrict second) {
  for (std::size_t i = 0; i < count; ++i) {
    const float g = gradient[i];
    const float m = std::fma(step.beta1, first[i], step.one_minus_beta1 * g);
    const float v = std::fma(step.beta2, second[i], step.one_minus_beta2 * g * g);
    first[i] = m;
    second[i] = v;
    const float root = std::fma(std::sqrt(v), step.root_scale, step.epsilon);
    theta[i] = std::fma(-shrink, theta[i], theta[i]) - step.step_size * m / root;
  }
}

void sgd(float rate, float shrink, std::size_t count, float* __restrict theta,
         const float* __restrict gradient) {
  for (std::size_t i = 0; i < count; ++i) {
    theta[i] = std::fma(-rate, gradient[i], std::fma(-shrink, theta[i], theta[i]));
  }
}

}  // namespace

InnerState make_inner_state(const InnerOptions& options, std::size_t block_size) {
  InnerState state;
  if (options.kind == InnerKind::kAdamW) {
    state.first = AlignedBlock(block_size);
    state.second = AlignedBlock(block_size);
  }
  return state;
}

void inner_update(const InnerOptions& options, double schedule_factor, const Model& model,
                  std::span<float> parameters, std::span<float> gradient, InnerState& state) {
  const std::size_t moments = options.kind == InnerKind::kAdamW ? model.block_size() : 0;
  check_size("parameters", parameters.size(), model.block_size());
  check_size("gradient", gradient.size(), model.block_size());
  check_size("first moment", state.first.size(), moments);
  check_size("second moment", state.second.size(), moments);
  clip(options.clip_norm, gradient);
  ++state.updates;
  const double rate = options.learning_rate * schedule_factor;
  const bool has_moments = options.kind == InnerKind::kAdamW;
  const AdamWStep step = has_moments ? fold_constants(options, rate, state.updates) : AdamWStep{};
  for (const Tensor& tensor : model.tensors()) {
    const auto shrink = static_cast<float>(tensor.decay ? rate * options.weight_decay : 0.0);
    float* const theta = parameters.data() + tensor.offset;
    const float* const g = gradient.data() + tensor.offset;
    if (has_moments) {
      adamw(step, shrink, tensor.size(), theta, g, state.first.data() + tensor.offset,
            state.second.data() + tensor.offset);
    } else {
      sgd(static_cast<float>(rate), shrink, tensor.size(), theta, g);
    }
  }
}

}  // namespace optim

// optim/outer_optimizer.cpp: see outer_optimizer.h for the contract and the source.
#include "optim/outer_optimizer.h"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "optim/check_shape.h"

namespace optim {
namespace {

void adam_update(const OuterOptions& options, std::span<float> theta, std::span<const double> delta,
                 std::span<double> first, std::span<double> second) {
  for (std::size_t i = 0; i < theta.size(); ++i) {
    first[i] = options.beta1 * first[i] + (1.0 - options.beta1) * delta[i];
    second[i] = options.beta2 * second[i] + (1.0 - options.beta2) * delta[i] * delta[i];
    const double step = first[i] / (std::sqrt(second[i]) + options.epsilon);
    theta[i] = static_cast<float>(double{theta[i]} - options.learning_rate * step);
  }
}

}  // namespace

void outer_update(const OuterOptions& options, std::span<float> theta,
                  std::span<const double> delta, std::span<double> velocity,
                  std::span<double> second_moment) {
  check_size("outer gradient", delta.size(), theta.size());
  check_size("velocity", velocity.size(), theta.size());
  if (has_second_moment(options.kind)) {
    check_size("second moment", second_moment.size(), theta.size());
  }
  const double rate = options.learning_rate, momentum = options.momentum;
  if (rate == 0.0) return;  // frozen, whatever delta holds: 0 times NaN is not 0
  switch (options.kind) {
    case OuterKind::kSgd:
      for (std::size_t i = 0; i < theta.size(); ++i) {
        theta[i] = static_cast<float>(double{theta[i]} - rate * delta[i]);
      }
      return;
    case OuterKind::kNesterov:
      for (std::size_t i = 0; i < theta.size(); ++i) {
        velocity[i] = momentum * velocity[i] + delta[i];
        const double look_ahead = delta[i] + momentum * velocity[i];
        theta[i] = static_cast<float>(double{theta[i]} - rate * look_ahead);
      }
      return;
    case OuterKind::kAdam:
      adam_update(options, theta, delta, velocity, second_moment);
      return;
  }
  throw std::invalid_argument(
      fmt::format("unknown outer optimizer {}", static_cast<int>(options.kind)));
}

}  // namespace optim

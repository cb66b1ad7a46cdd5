// optim/outer_optimizer.cpp: see outer_optimizer.h for the contract and the source.
#include "optim/outer_optimizer.h"

#include <fmt/format.h>

#include <stdexcept>

#include "optim/check_shape.h"

namespace optim {

void outer_update(const OuterOptions& options, std::span<float> theta,
                  std::span<const double> delta, std::span<double> velocity) {
  check_size("outer gradient", delta.size(), theta.size());
  check_size("velocity", velocity.size(), theta.size());
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
  }
  throw std::invalid_argument(
      fmt::format("unknown outer optimizer {}", static_cast<int>(options.kind)));
}

}  // namespace optim

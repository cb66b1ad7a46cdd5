// optim/outer_optimizer.h: what the syncer does with a merged outer gradient.
//
// Sign: an outer gradient is old global minus new local, and the outer optimizer descends on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace optim {

enum class OuterKind : std::uint8_t { kSgd, kNesterov };

struct OuterOptions {
  OuterKind kind;
  double learning_rate;
  double momentum;  // 0 for kSgd
};

// One step on a piece of the global model, in place:
//   velocity = momentum * velocity + delta
//   theta    = theta - learning_rate * (delta + momentum * velocity)      (Nesterov)
//   theta    = theta - learning_rate * delta                              (SGD)
// Arithmetic in double, stored as float (velocity stays double).
// Source: Douillard et al. 2023, arXiv:2311.08105, Algorithm 1; torch.optim.SGD(nesterov=True).
// Rate 0 freezes: nothing is touched, velocity included, whatever delta holds.
// Requires: equal sizes; else std::invalid_argument.
void outer_update(const OuterOptions& options, std::span<float> theta,
                  std::span<const double> delta, std::span<double> velocity);

}  // namespace optim

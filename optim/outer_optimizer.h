// optim/outer_optimizer.h: what the syncer does with a merged outer gradient.
//
// Sign: an outer gradient is old global minus new local, and the outer optimizer descends on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace optim {

enum class OuterKind : std::uint8_t { kSgd, kNesterov, kAdam };

struct OuterOptions {
  OuterKind kind;
  double learning_rate;
  double momentum;      // kNesterov
  double beta1 = 0;     // these three: kAdam
  double beta2 = 0;
  double epsilon = 0;
};

// Whether outer_update needs a second moment.
inline bool has_second_moment(OuterKind kind) { return kind == OuterKind::kAdam; }

// One step on a piece of the global model, in place:
//   theta    = theta - learning_rate * delta                              (SGD)
//
//   velocity = momentum * velocity + delta                                (Nesterov)
//   theta    = theta - learning_rate * (delta + momentum * velocity)
//
//   velocity      = beta1 * velocity + (1 - beta1) * delta                (Adam)
//   second_moment = beta2 * second_moment + (1 - beta2) * delta^2
//   theta         = theta - learning_rate * velocity / (sqrt(second_moment) + epsilon)
//
// Arithmetic in double, stored as float (the state stays double). The state starts at zero.
// Source:  Douillard et al. 2023, arXiv:2311.08105, Algorithm 1; torch.optim.SGD(nesterov=True).
//          Adam: Reddi et al. 2021, arXiv:2003.00295, Algorithm 2 (FedAdam).
// Differs: from torch.optim.Adam by having no bias correction, as FedAdam has none: the first step
//          is learning_rate (1 - beta1) delta / (sqrt(1 - beta2) |delta| + epsilon). From FedAdam by
//          a second moment that starts at 0, not at epsilon^2.
// Rate 0 freezes: nothing is touched, the state included, whatever delta holds.
// Requires: equal sizes; `second_moment` may be empty where has_second_moment() is false; else
//           std::invalid_argument.
void outer_update(const OuterOptions& options, std::span<float> theta,
                  std::span<const double> delta, std::span<double> velocity,
                  std::span<double> second_moment = {});

}  // namespace optim

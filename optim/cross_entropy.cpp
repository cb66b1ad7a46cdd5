// optim/cross_entropy.cpp: see cross_entropy.h for the contract.
#include "optim/cross_entropy.h"

#include <fmt/format.h>

#include <stdexcept>

#include "optim/fast_exp.h"
#include "sim/base/elementary.h"

namespace optim {
namespace {

struct Exponentials {
  double sum;
  double loss;
};

// Overwrites the logits by e^(z - max).
Exponentials exponentiate(std::span<float> logits, std::int32_t target) {
  if (target < 0 || static_cast<std::size_t>(target) >= logits.size()) {
    throw std::invalid_argument(
        fmt::format("target must be a class in [0, {}); got {}", logits.size(), target));
  }
  float* const z = logits.data();
  const std::size_t count = logits.size();
  const float at_target = z[target];
  float highest = z[0];
  for (std::size_t j = 1; j < count; ++j) highest = z[j] > highest ? z[j] : highest;
  for (std::size_t j = 0; j < count; ++j) z[j] = fast_exp(z[j] - highest);
  double sum = 0.0;
  for (std::size_t j = 0; j < count; ++j) sum += double{z[j]};
  return {sum, sim::base::natural_log(sum) + double{highest} - double{at_target}};
}

}  // namespace

double cross_entropy_and_gradient(std::span<float> logits, std::int32_t target) {
  const Exponentials result = exponentiate(logits, target);
  const auto inverse = static_cast<float>(1.0 / result.sum);
  for (float& z : logits) z *= inverse;
  logits[static_cast<std::size_t>(target)] -= 1.0f;
  return result.loss;
}

double cross_entropy(std::span<float> logits, std::int32_t target) {
  return exponentiate(logits, target).loss;
}

}  // namespace optim

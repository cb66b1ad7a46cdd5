// optim/cross_entropy.cpp: see cross_entropy.h for the contract.
#include "optim/cross_entropy.h"

#include <fmt/format.h>

#include <limits>
#include <stdexcept>

#include "optim/fast_exp.h"
#include "optim/fast_exp_lanes.h"
#include "optim/lanes.h"
#include "sim/base/elementary.h"

namespace optim {
namespace {

struct Exponentials {
  double sum;
  double loss;
};

void check_target(std::int32_t target, std::size_t classes) {
  if (target >= 0 && static_cast<std::size_t>(target) < classes) return;
  throw std::invalid_argument(
      fmt::format("target must be a class in [0, {}); got {}", classes, target));
}

// Overwrites the logits by e^(z - max).
Exponentials exponentiate(std::span<float> logits, std::int32_t target) {
  check_target(target, logits.size());
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

// The same in lanes, for long rows.
Exponentials exponentiate_row(std::size_t classes, float* z, std::int32_t target) {
  check_target(target, classes);
  const float at_target = z[target];
  const Lanes lowest = all_of(-std::numeric_limits<float>::infinity());
  Lanes most = lowest;
  for_each_group(classes, [&](std::size_t j, std::size_t count) {
    most = larger(most, first_of(count, load_first(count, z + j), lowest));
  });
  const float top = highest(most);
  Lanes total = all_of(0.0f);
  for_each_group(classes, [&](std::size_t j, std::size_t count) {
    const Lanes e = fast_exp(load_first(count, z + j) - all_of(top));
    store_first(count, z + j, e);
    total = total + first_of(count, e, all_of(0.0f));
  });
  const double sum_of_row = double{sum(total)};
  return {sum_of_row, sim::base::natural_log(sum_of_row) + double{top} - double{at_target}};
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

double cross_entropy_of_rows(std::size_t classes, std::span<const std::int32_t> targets,
                             float weight, float* logits) {
  double loss_sum = 0.0;
  for (std::size_t r = 0; r < targets.size(); ++r) {
    float* const row = logits + r * classes;
    const Exponentials result = exponentiate_row(classes, row, targets[r]);
    loss_sum += result.loss;
    if (weight == 0.0f) continue;
    const Lanes factor = all_of(weight / static_cast<float>(result.sum));
    for_each_group(classes, [&](std::size_t j, std::size_t count) {
      store_first(count, row + j, load_first(count, row + j) * factor);
    });
    row[targets[r]] -= weight;
  }
  return loss_sum;
}

}  // namespace optim

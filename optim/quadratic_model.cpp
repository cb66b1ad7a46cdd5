// optim/quadratic_model.cpp: see quadratic_model.h for the formula.
#include "optim/quadratic_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "optim/check_shape.h"
#include "sim/base/elementary.h"
#include "sim/base/random.h"

namespace optim {
namespace {

std::vector<float> geometric_curvature(std::size_t dimension, double condition_number) {
  std::vector<double> falling(dimension, 1.0);
  double sum = 0.0;
  for (std::size_t i = 0; i < dimension; ++i) {
    if (dimension > 1) {
      const double share = static_cast<double>(i) / static_cast<double>(dimension - 1);
      falling[i] = sim::base::power(condition_number, -share);
    }
    sum += falling[i];
  }
  std::vector<float> curvature(dimension);
  for (std::size_t i = 0; i < dimension; ++i) {
    curvature[i] = static_cast<float>(falling[i] * static_cast<double>(dimension) / sum);
  }
  return curvature;
}

}  // namespace

QuadraticModel::QuadraticModel(std::size_t dimension, double condition_number) {
  if (dimension == 0) throw std::invalid_argument("inputs must be at least 1; got 0");
  if (!(condition_number >= 1.0) || !std::isfinite(condition_number)) {
    throw std::invalid_argument(
        fmt::format("condition_number must be at least 1; got {}", condition_number));
  }
  layout_.append({"theta", 0, dimension, 1, false, false});
  curvature_ = geometric_curvature(dimension, condition_number);
}

void QuadraticModel::initialise(std::uint64_t seed, std::span<float> parameters) const {
  check_size("parameters", parameters.size(), block_size());
  std::ranges::fill(parameters, 0.0f);
  sim::base::Stream stream(seed, "model/theta");
  for (std::size_t i = 0; i < parameter_count(); ++i) {
    parameters[i] = static_cast<float>(stream.next_normal());
  }
}

void QuadraticModel::check(std::span<const float> parameters, const Batch& batch) const {
  check_size("parameters", parameters.size(), block_size());
  check_size("inputs", batch.inputs.size(), batch.examples * parameter_count());
}

double QuadraticModel::loss_and_gradient(std::span<const float> parameters, const Batch& batch,
                                         std::span<float> gradient,
                                         std::vector<float>& scratch) const {
  check_size("gradient", gradient.size(), block_size());
  const double loss_sum = loss(parameters, batch, scratch);
  const std::size_t dimension = parameter_count();
  for (std::size_t b = 0; b < batch.examples; ++b) {
    const float* const x = batch.inputs.data() + b * dimension;
    for (std::size_t i = 0; i < dimension; ++i) {
      gradient[i] = std::fma(curvature_[i], parameters[i] - x[i], gradient[i]);
    }
  }
  return loss_sum;
}

double QuadraticModel::loss(std::span<const float> parameters, const Batch& batch,
                            std::vector<float>&) const {
  check(parameters, batch);
  const std::size_t dimension = parameter_count();
  double loss_sum = 0.0;
  for (std::size_t b = 0; b < batch.examples; ++b) {
    const float* const x = batch.inputs.data() + b * dimension;
    double twice = 0.0;
    for (std::size_t i = 0; i < dimension; ++i) {
      const double away = double{parameters[i]} - double{x[i]};
      twice += double{curvature_[i]} * away * away;
    }
    loss_sum += 0.5 * twice;
  }
  return loss_sum;
}

}  // namespace optim

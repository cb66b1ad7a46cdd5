// optim/quadratic_model.h: an ill-conditioned quadratic whose optimum is the mean of its examples.
//
// The proxy for questions whose answer is known in closed form.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "optim/layout.h"
#include "optim/model.h"

namespace optim {

//   loss of example x = 1/2 sum_i c_i (theta_i - x_i)^2          (D)
//
// The curvatures c fall geometrically from the first to the last, c_1 / c_D = condition_number, and
// have mean 1. So examples with independent noise of sd s around one point have the expected loss
// s^2 D / 2 at that point whatever the condition number. Gradient descent is stable below
// 2 / c_1 (curvature()[0]).
// One tensor (D x 1), so that any coordinate can be a fragment; no weight decay, which would move
// the optimum. Initial: standard normal.
class QuadraticModel : public Model {
 public:
  // Requires: dimension > 0, condition_number >= 1 and finite; else std::invalid_argument.
  QuadraticModel(std::size_t dimension, double condition_number);

  const std::vector<Tensor>& tensors() const override { return layout_.tensors(); }
  std::size_t parameter_count() const override { return layout_.parameter_count(); }
  std::size_t block_size() const override { return layout_.block_size(); }
  std::span<const float> curvature() const { return curvature_; }  // (D), descending
  void initialise(std::uint64_t seed, std::span<float> parameters) const override;
  double loss_and_gradient(std::span<const float> parameters, const Batch& batch,
                           std::span<float> gradient, std::vector<float>& scratch) const override;
  double loss(std::span<const float> parameters, const Batch& batch,
              std::vector<float>& scratch) const override;

 private:
  void check(std::span<const float> parameters, const Batch& batch) const;

  Layout layout_;
  std::vector<float> curvature_;
};

}  // namespace optim

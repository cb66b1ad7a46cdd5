// optim/quadratic_task.h: a fixed random optimum, seen through noise.
#pragma once

#include <cstdint>
#include <vector>

#include "optim/task.h"
#include "sim/base/random.h"

namespace optim {

// Example: x = optimum + noise * z, with z standard normal, (inputs). No targets.
// Floor:  noise^2 * inputs / 2, exact for the quadratic model, whose curvatures have mean 1.
// Random: stream "task/quadratic/optimum", then one lane of "task/quadratic/examples" per example.
class QuadraticTask : public Task {
 public:
  // Requires: iid shards; else std::invalid_argument.
  QuadraticTask(const TaskOptions& options, std::uint64_t seed);

  std::size_t inputs() const override { return optimum_.size(); }
  std::size_t outputs() const override { return 0; }
  void append_example(std::uint32_t step, std::uint32_t slot, Batch& batch) const override;
  const Batch& held_out() const override { return held_out_; }
  double loss_floor() const override;
  const std::vector<float>& optimum() const { return optimum_; }

 private:
  void append(sim::base::Stream stream, Batch& batch) const;

  double noise_;
  std::vector<float> optimum_;
  sim::base::Stream examples_;
  Batch held_out_;
};

}  // namespace optim

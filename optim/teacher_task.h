// optim/teacher_task.h: a fixed random network labels Gaussian inputs, and some labels are flipped.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "optim/shards.h"
#include "optim/task.h"
#include "sim/base/random.h"

namespace optim {

//   x     standard normal                                             (inputs)
//   label = argmax_c sum_h V_hc tanh(sum_i U_ih x_i), ties lower      (hidden 32)
//   with probability `noise` replaced by one of the other classes, all alike
//
// U has sd sqrt(2 / inputs), V sd 1; no biases, so that no class is favoured on average.
// Floor:  -(1-q) log(1-q) - q log(q / (classes-1)), q = noise: exact, the label's entropy given x;
//         a model reaches it only as far as it can represent the teacher.
// Shards: dirichlet: a shard has its own shares of the teacher's label. A label is drawn by them and
//         then inputs, until the teacher gives one that label; after 64 classes inputs (assumed) the
//         last is taken as it is, which makes a label that the teacher all but never gives rarer
//         than its share. contiguous: undefined.
// Random: streams "task/teacher/network", "task/teacher/held-out" and one lane of
//         "task/teacher/examples" per example.
class TeacherTask : public Task {
 public:
  // Requires: shards not contiguous; else std::invalid_argument.
  TeacherTask(const TaskOptions& options, std::uint64_t seed);

  std::size_t inputs() const override { return inputs_; }
  std::size_t outputs() const override { return classes_; }
  void append_example(std::uint32_t step, std::uint32_t slot, Batch& batch) const override;
  const Batch& held_out() const override { return held_out_; }
  double loss_floor() const override;

  // The teacher's own label, before any flip. Requires: input (inputs).
  std::int32_t label(std::span<const float> input) const;

 private:
  // `wanted`: the label of the input, or null for any.
  void append(sim::base::Stream& stream, const std::size_t* wanted, Batch& batch) const;

  std::size_t inputs_, classes_;
  double noise_;
  std::vector<float> hidden_weights_;  // (inputs x hidden)
  std::vector<float> output_weights_;  // (hidden x classes)
  Shards shards_;
  sim::base::Stream examples_;
  Batch held_out_;
};

}  // namespace optim

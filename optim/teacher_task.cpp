// optim/teacher_task.cpp: see teacher_task.h.
#include "optim/teacher_task.h"

#include <array>
#include <cmath>
#include <stdexcept>

#include "optim/check_shape.h"
#include "optim/dense.h"
#include "optim/example_stream.h"
#include "optim/fast_exp.h"
#include "optim/normals.h"
#include "sim/base/elementary.h"

namespace optim {
namespace {

constexpr std::size_t kHidden = 32;
constexpr std::size_t kTriesPerClass = 64;  // assumed: a label of 1/10 of the usual share is found

float hyperbolic_tangent(float x) { return 1.0f - 2.0f / (fast_exp(2.0f * x) + 1.0f); }

}  // namespace

TeacherTask::TeacherTask(const TaskOptions& options, std::uint64_t seed)
    : inputs_(options.inputs),
      classes_(options.classes),
      noise_(options.noise),
      hidden_weights_(options.inputs * kHidden),
      output_weights_(kHidden * options.classes),
      shards_(options.shards, options.classes, seed),
      examples_(seed, "task/teacher/examples") {
  if (shards_.kind() == ShardKind::kContiguous) {
    throw std::invalid_argument("a teacher's inputs have no order to cut shards from");
  }
  sim::base::Stream network(seed, "task/teacher/network");
  set_normals(network, hidden_weights_);
  set_normals(network, output_weights_);
  const auto sd = static_cast<float>(std::sqrt(2.0 / static_cast<double>(inputs_)));
  for (float& weight : hidden_weights_) weight *= sd;
  const sim::base::Stream held_out(seed, "task/teacher/held-out");
  for (std::uint32_t i = 0; i < options.held_out_examples; ++i) {
    sim::base::Stream stream = example_stream(held_out, i, 0);
    append(stream, nullptr, held_out_);
  }
}

void TeacherTask::append_example(std::uint32_t step, std::uint32_t slot, Batch& batch) const {
  sim::base::Stream stream = example_stream(examples_, step, slot);
  if (shards_.kind() != ShardKind::kDirichlet) return append(stream, nullptr, batch);
  const std::size_t wanted = shards_.draw_group(shards_.shard_of(slot), stream);
  append(stream, &wanted, batch);
}

double TeacherTask::loss_floor() const {
  if (noise_ == 0.0) return 0.0;
  const double others = static_cast<double>(classes_ - 1);
  const double kept = noise_ == 1.0 ? 0.0 : -(1.0 - noise_) * sim::base::natural_log(1.0 - noise_);
  return kept - noise_ * sim::base::natural_log(noise_ / others);
}

std::int32_t TeacherTask::label(std::span<const float> input) const {
  check_size("input", input.size(), inputs_);
  std::array<float, kHidden> hidden{};
  add_forward({1, inputs_, kHidden}, input.data(), hidden_weights_.data(), hidden.data());
  for (float& unit : hidden) unit = hyperbolic_tangent(unit);
  std::size_t best = 0;
  float best_score = 0.0f;
  for (std::size_t c = 0; c < classes_; ++c) {
    float score = 0.0f;
    for (std::size_t h = 0; h < kHidden; ++h) {
      score = std::fma(hidden[h], output_weights_[h * classes_ + c], score);
    }
    if (c == 0 || score > best_score) {
      best = c;
      best_score = score;
    }
  }
  return static_cast<std::int32_t>(best);
}

void TeacherTask::append(sim::base::Stream& stream, const std::size_t* wanted, Batch& batch) const {
  const std::size_t first = batch.inputs.size();
  batch.inputs.resize(first + inputs_);
  const std::span<float> input(batch.inputs.data() + first, inputs_);
  std::uint64_t target = 0;
  for (std::size_t left = wanted != nullptr ? kTriesPerClass * classes_ : 1; left > 0; --left) {
    set_normals(stream, input);
    target = static_cast<std::uint64_t>(label(input));
    if (wanted != nullptr && target == *wanted) break;
  }
  if (stream.next_uniform() < noise_) {
    target = (target + 1 + stream.next_below(classes_ - 1)) % classes_;
  }
  batch.targets.push_back(static_cast<std::int32_t>(target));
  ++batch.examples;
}

}  // namespace optim

// optim/network_model.cpp: forward and hand-written backward; see network_model.h for the formulas.
#include "optim/network_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "optim/check_shape.h"
#include "optim/cross_entropy.h"
#include "optim/gelu.h"
#include "optim/scratch.h"
#include "sim/base/random.h"

namespace optim {
namespace {

constexpr std::size_t kMostLayers = 64;
constexpr std::size_t kEvaluatedAtOnce = 64;  // examples; keeps the activations in the cache

}  // namespace

NetworkModel::NetworkModel(std::vector<std::size_t> widths) : widths_(std::move(widths)) {
  if (widths_.size() < 2 || layer_count() > kMostLayers) {
    throw std::invalid_argument(
        fmt::format("layers must be 1 to {}; got {}", kMostLayers, widths_.size() - 1));
  }
  for (std::size_t layer = 0; layer < layer_count(); ++layer) {
    const bool output = layer + 1 == layer_count();
    const std::string name = output ? "output" : fmt::format("hidden{}", layer);
    layout_.append({name + ".weight", 0, widths_[layer], widths_[layer + 1],
                    layer == 0 && !output, true});
    layout_.append({name + ".bias", 0, 1, widths_[layer + 1], false, false});
  }
}

void NetworkModel::initialise(std::uint64_t seed, std::span<float> parameters) const {
  check_size("parameters", parameters.size(), block_size());
  std::ranges::fill(parameters, 0.0f);
  for (std::size_t layer = 0; layer < layer_count(); ++layer) {
    const bool output = layer + 1 == layer_count();
    const double gain = output ? 1.0 : 2.0;
    const double sd = layer_count() == 1
                          ? 0.02
                          : std::sqrt(gain / static_cast<double>(widths_[layer]));
    const Tensor& weight = tensors()[2 * layer];
    sim::base::Stream stream(seed, "model/" + weight.name);
    for (std::size_t i = 0; i < weight.size(); ++i) {
      parameters[weight.offset + i] = static_cast<float>(sd * stream.next_normal());
    }
  }
}

std::size_t NetworkModel::scratch_floats(std::size_t examples) const {
  std::size_t floats = padded(examples * widths_.back());
  std::size_t widest = 0;
  for (std::size_t layer = 0; layer + 1 < layer_count(); ++layer) {
    floats += 2 * padded(examples * widths_[layer + 1]);  // before and after the GELU
    widest = std::max(widest, widths_[layer + 1]);
  }
  return floats + 2 * padded(examples * widest);
}

void NetworkModel::check(std::span<const float> parameters, const Batch& batch) const {
  check_size("parameters", parameters.size(), block_size());
  check_size("inputs", batch.inputs.size(), batch.examples * widths_.front());
  check_size("targets", batch.targets.size(), batch.examples, "examples");
}

void NetworkModel::forward(const float* parameters, std::size_t layer, std::size_t examples,
                           const float* inputs, float* outputs) const {
  const Tensor& weight = tensors()[2 * layer];
  const float* bias = parameters + tensors()[2 * layer + 1].offset;
  for (std::size_t b = 0; b < examples; ++b) {
    std::copy_n(bias, weight.cols, outputs + b * weight.cols);
  }
  add_forward(shape(layer, examples), inputs, parameters + weight.offset, outputs);
}

double NetworkModel::loss_and_gradient(std::span<const float> parameters, const Batch& batch,
                                       std::span<float> gradient,
                                       std::vector<float>& scratch) const {
  check(parameters, batch);
  check_size("gradient", gradient.size(), block_size());
  const std::size_t examples = batch.examples, last = layer_count() - 1;
  Scratch room(scratch, scratch_floats(examples));
  std::array<float*, kMostLayers> before{};        // z_l
  std::array<const float*, kMostLayers> entering{};  // a_l
  entering[0] = batch.inputs.data();
  std::size_t widest = 0;
  for (std::size_t layer = 0; layer < last; ++layer) {
    const std::size_t count = examples * widths_[layer + 1];
    before[layer] = room.take(count);
    float* const after = room.take(count);
    forward(parameters.data(), layer, examples, entering[layer], before[layer]);
    set_gelu(count, before[layer], after);
    entering[layer + 1] = after;
    widest = std::max(widest, count);
  }
  float* delta = room.take(examples * widths_.back());  // d loss / d z of the current layer
  forward(parameters.data(), last, examples, entering[last], delta);
  double loss_sum = 0.0;
  for (std::size_t b = 0; b < examples; ++b) {
    loss_sum += cross_entropy_and_gradient({delta + b * widths_.back(), widths_.back()},
                                           batch.targets[b]);
  }
  float* next = room.take(widest);
  float* other = room.take(widest);
  for (std::size_t layer = last + 1; layer-- > 0;) {
    const LayerShape size = shape(layer, examples);
    const Tensor& weight = tensors()[2 * layer];
    float* const bias_gradient = gradient.data() + tensors()[2 * layer + 1].offset;
    add_weight_gradient(size, entering[layer], delta, gradient.data() + weight.offset);
    for (std::size_t b = 0; b < examples; ++b) {
      for (std::size_t j = 0; j < size.outputs; ++j) bias_gradient[j] += delta[b * size.outputs + j];
    }
    if (layer == 0) break;
    set_input_gradient(size, delta, parameters.data() + weight.offset, next);
    multiply_by_gelu_slope(examples * size.inputs, before[layer - 1], next);
    delta = next;
    std::swap(next, other);
  }
  return loss_sum;
}

double NetworkModel::loss(std::span<const float> parameters, const Batch& batch,
                          std::vector<float>& scratch) const {
  check(parameters, batch);
  double loss_sum = 0.0;
  for (std::size_t first = 0; first < batch.examples; first += kEvaluatedAtOnce) {
    const std::size_t examples = std::min(kEvaluatedAtOnce, batch.examples - first);
    Scratch room(scratch, scratch_floats(examples));
    const float* entering = batch.inputs.data() + first * widths_.front();
    float* leaving = nullptr;
    for (std::size_t layer = 0; layer < layer_count(); ++layer) {
      const std::size_t count = examples * widths_[layer + 1];
      leaving = room.take(count);
      forward(parameters.data(), layer, examples, entering, leaving);
      if (layer + 1 == layer_count()) break;
      float* const after = room.take(count);
      set_gelu(count, leaving, after);
      entering = after;
    }
    for (std::size_t b = 0; b < examples; ++b) {
      loss_sum += cross_entropy({leaving + b * widths_.back(), widths_.back()},
                                batch.targets[first + b]);
    }
  }
  return loss_sum;
}

}  // namespace optim

// optim/transformer_layout.cpp: see transformer_layout.h.
#include "optim/transformer_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "optim/check_shape.h"
#include "sim/base/random.h"

namespace optim {
namespace {

constexpr std::size_t kMostLayers = 64;
constexpr std::size_t kTables = 2;  // embedding and position come before the blocks
constexpr std::size_t kTensorsPerBlock = 12;

void check(const TransformerShape& shape) {
  const std::pair<const char*, std::size_t> sizes[] = {{"outputs", shape.vocabulary},
                                                       {"context", shape.context},
                                                       {"width", shape.width},
                                                       {"heads", shape.heads},
                                                       {"layers", shape.layers}};
  for (const auto& [name, size] : sizes) {
    if (size == 0) throw std::invalid_argument(fmt::format("{} must be at least 1; got 0", name));
  }
  if (shape.layers > kMostLayers) {
    throw std::invalid_argument(
        fmt::format("layers must be 1 to {}; got {}", kMostLayers, shape.layers));
  }
  if (shape.width % shape.heads != 0) {
    throw std::invalid_argument(
        fmt::format("heads must divide the width ({}); got {}", shape.width, shape.heads));
  }
}

}  // namespace

TransformerLayout::TransformerLayout(const TransformerShape& shape) : shape_(shape) {
  check(shape);
  const std::size_t d = shape.width;
  const auto table = [this](const char* name, std::size_t rows, std::size_t cols) {
    layout_.append({name, 0, rows, cols, true, true});
  };
  const auto matrix = [this](const std::string& name, std::size_t rows, std::size_t cols) {
    layout_.append({name + ".weight", 0, rows, cols, false, true});
    layout_.append({name + ".bias", 0, 1, cols, false, false});
  };
  const auto norm = [this, d](const std::string& name) {
    layout_.append({name + ".gain", 0, 1, d, false, false});
    layout_.append({name + ".bias", 0, 1, d, false, false});
  };
  table("embedding", shape.vocabulary, d);
  table("position", shape.context, d);
  for (std::size_t layer = 0; layer < shape.layers; ++layer) {
    const std::string block = fmt::format("block{}.", layer);
    norm(block + "norm1");
    matrix(block + "qkv", d, 3 * d);
    matrix(block + "attention", d, d);
    norm(block + "norm2");
    matrix(block + "wide", d, shape.wide());
    matrix(block + "narrow", shape.wide(), d);
  }
  norm("final");
}

BlockOffsets TransformerLayout::block(std::size_t layer) const {
  const std::size_t first = kTables + layer * kTensorsPerBlock;
  const auto at = [&](std::size_t index) { return offset(first + index); };
  return {at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7), at(8), at(9), at(10), at(11)};
}

void TransformerLayout::initialise(std::uint64_t seed, std::span<float> parameters) const {
  check_size("parameters", parameters.size(), layout_.block_size());
  std::ranges::fill(parameters, 0.0f);
  constexpr double kSd = 0.02;
  const double residual_sd = kSd / std::sqrt(2.0 * static_cast<double>(shape_.layers));
  for (const Tensor& tensor : layout_.tensors()) {
    const std::span<float> values = parameters.subspan(tensor.offset, tensor.size());
    if (tensor.name.ends_with(".gain")) {
      std::ranges::fill(values, 1.0f);
    } else if (tensor.decay) {
      const bool residual = tensor.name.ends_with("attention.weight") ||
                            tensor.name.ends_with("narrow.weight");
      sim::base::Stream stream(seed, "model/" + tensor.name);
      for (float& value : values) {
        value = static_cast<float>((residual ? residual_sd : kSd) * stream.next_normal());
      }
    }
  }
}

}  // namespace optim

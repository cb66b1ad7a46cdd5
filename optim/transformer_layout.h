// optim/transformer_layout.h: the tensors of a decoder-only transformer, and their first values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "optim/layout.h"

namespace optim {

struct TransformerShape {
  std::size_t vocabulary;  // V
  std::size_t context;     // T, positions of an example
  std::size_t width;       // D, floats per position
  std::size_t heads;       // divides D
  std::size_t layers;      // blocks

  std::size_t head_width() const { return width / heads; }
  std::size_t wide() const { return 4 * width; }  // inside the perceptron of a block
};

// Offsets in the flat block; weights are (inputs x outputs).
struct BlockOffsets {
  std::size_t norm1_gain, norm1_bias;
  std::size_t qkv_weight, qkv_bias;              // (D x 3D): queries, keys, values side by side
  std::size_t attention_weight, attention_bias;  // (D x D)
  std::size_t norm2_gain, norm2_bias;
  std::size_t wide_weight, wide_bias;            // (D x 4D)
  std::size_t narrow_weight, narrow_bias;        // (4D x D)
};

// Tensors, in order: embedding (V x D), position (T x D), twelve per block, final gain and bias. Both
// tables count as embeddings; matrices decay, biases and norms do not.
class TransformerLayout {
 public:
  // Requires: sizes of at least 1, at most 64 layers, heads that divide the width; else
  // std::invalid_argument.
  explicit TransformerLayout(const TransformerShape& shape);

  const TransformerShape& shape() const { return shape_; }
  const Layout& layout() const { return layout_; }

  std::size_t embedding() const { return offset(0); }
  std::size_t position() const { return offset(1); }
  BlockOffsets block(std::size_t layer) const;
  std::size_t final_gain() const { return offset(layout_.tensors().size() - 2); }
  std::size_t final_bias() const { return offset(layout_.tensors().size() - 1); }

  // Matrices normal with sd 0.02, those that write to the residual stream (attention and narrow
  // weights) with 0.02 / sqrt(2 layers); biases 0, gains 1. One random stream per tensor.
  // Source: Radford et al. 2019 (GPT-2), section 2.3, and its published code for 0.02; positions too,
  //         as in nanoGPT (GPT-2's code has 0.01 there).
  void initialise(std::uint64_t seed, std::span<float> parameters) const;

 private:
  std::size_t offset(std::size_t tensor) const { return layout_.tensors()[tensor].offset; }

  TransformerShape shape_;
  Layout layout_;
};

}  // namespace optim

// optim/transformer_backward.cpp: the derivative of transformer_model.cpp, in the opposite order.
#include <algorithm>
#include <cstddef>

#include "optim/affine_rows.h"
#include "optim/attention.h"
#include "optim/elementwise.h"
#include "optim/matrix_product.h"
#include "optim/transformer_model.h"

namespace optim {

void TransformerModel::backward(const float* parameters, const Sequences& sequences,
                                TransformerArrays& arrays, float* gradient) const {
  const TransformerShape& shape = layout_.shape();
  const std::size_t d = shape.width, rows = arrays.rows();
  const Panels symbols =
      pack(row_major(parameters + layout_.embedding(), d), shape.vocabulary, d, arrays.room);
  multiply(row_major(arrays.logits, shape.vocabulary), rows, symbols, {}, arrays.narrow_gradient, d);
  std::fill_n(arrays.stream_gradient, rows * d, 0.0f);
  add_layer_norm_gradient(rows, d, arrays.narrow_gradient, parameters + layout_.final_gain(),
                          arrays.final, arrays.stream_gradient, gradient + layout_.final_gain(),
                          gradient + layout_.final_bias());
  for (std::size_t layer = shape.layers; layer-- > 0;) {
    backward_block(parameters, layer, arrays, gradient);
  }
  backward_embedding(sequences, arrays, gradient);
}

void TransformerModel::backward_block(const float* parameters, std::size_t layer,
                                      TransformerArrays& arrays, float* gradient) const {
  const TransformerShape& shape = layout_.shape();
  const std::size_t d = shape.width, wide = shape.wide(), rows = arrays.rows();
  const BlockOffsets at = layout_.block(layer);
  const BlockArrays block = arrays.block(layer);
  const auto gradients = [&](std::size_t weight, std::size_t bias) {
    return AffineGradient{gradient + weight, gradient + bias};
  };
  const LayerShape narrowing{rows, wide, d}, widening{rows, d, wide}, mixing{rows, d, d},
      projecting{rows, d, 3 * d};
  float* const delta = arrays.stream_gradient;
  add_affine_gradient(narrowing, block.entering_narrow, delta,
                      gradients(at.narrow_weight, at.narrow_bias), arrays.room);
  set_entering_gradient(narrowing, delta, parameters + at.narrow_weight, arrays.wide_gradient,
                        arrays.room);
  multiply_by(rows * wide, block.slope, arrays.wide_gradient);
  add_affine_gradient(widening, block.entering_wide, arrays.wide_gradient,
                      gradients(at.wide_weight, at.wide_bias), arrays.room);
  set_entering_gradient(widening, arrays.wide_gradient, parameters + at.wide_weight,
                        arrays.narrow_gradient, arrays.room);
  add_layer_norm_gradient(rows, d, arrays.narrow_gradient, parameters + at.norm2_gain, block.norm2,
                          delta, gradient + at.norm2_gain, gradient + at.norm2_bias);

  add_affine_gradient(mixing, block.attended, delta,
                      gradients(at.attention_weight, at.attention_bias), arrays.room);
  set_entering_gradient(mixing, delta, parameters + at.attention_weight, arrays.narrow_gradient,
                        arrays.room);
  backward_attention(block, arrays);
  add_affine_gradient(projecting, block.entering_qkv, arrays.wide_gradient,
                      gradients(at.qkv_weight, at.qkv_bias), arrays.room);
  set_entering_gradient(projecting, arrays.wide_gradient, parameters + at.qkv_weight,
                        arrays.narrow_gradient, arrays.room);
  add_layer_norm_gradient(rows, d, arrays.narrow_gradient, parameters + at.norm1_gain, block.norm1,
                          delta, gradient + at.norm1_gain, gradient + at.norm1_bias);
}

// From narrow_gradient (of what attention gave) to wide_gradient, (R x 3D) as qkv.
void TransformerModel::backward_attention(const BlockArrays& block,
                                          TransformerArrays& arrays) const {
  const TransformerShape& shape = layout_.shape();
  const std::size_t d = shape.width;
  const HeadShape head{shape.context, shape.head_width(), 3 * d, d};
  const float* shares = block.shares;
  for (std::size_t first = 0; first < arrays.rows(); first += shape.context) {
    for (std::size_t column = 0; column < d; column += shape.head_width()) {
      const float* const query = block.qkv + first * 3 * d + column;
      float* const slope = arrays.wide_gradient + first * 3 * d + column;
      set_attention_gradient(head, {query, query + d, query + 2 * d}, shares,
                             arrays.narrow_gradient + first * d + column,
                             {slope, slope + d, slope + 2 * d}, arrays.room);
      shares += share_floats(shape.context);
    }
  }
}

// Both uses of the tied table, one sequence after another: as the output's weights, then as the
// rows that the tokens picked.
void TransformerModel::backward_embedding(const Sequences& sequences, TransformerArrays& arrays,
                                          float* gradient) const {
  const TransformerShape& shape = layout_.shape();
  const std::size_t t = shape.context, d = shape.width, v = shape.vocabulary;
  float* const embedding = gradient + layout_.embedding();
  float* const position = gradient + layout_.position();
  for (std::size_t i = 0; i < sequences.count; ++i) {
    const Panels entering = pack(row_major(arrays.entering_logits + i * t * d, d), t, d, arrays.room);
    multiply(row_major(arrays.logits + i * t * v, v).transposed(), v, entering, {.keep = true},
             embedding, d);
    for (std::size_t place = 0; place < t; ++place) {
      const std::size_t row = i * t + place;
      const auto token = static_cast<std::size_t>(sequences.tokens[row]);
      const float* const delta = arrays.stream_gradient + row * d;
      for (std::size_t j = 0; j < d; ++j) embedding[token * d + j] += delta[j];
      for (std::size_t j = 0; j < d; ++j) position[place * d + j] += delta[j];
    }
  }
}

}  // namespace optim

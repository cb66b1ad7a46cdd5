// optim/transformer_model.cpp: forward, loss and the order of a step; see transformer_model.h.
#include "optim/transformer_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "optim/affine_rows.h"
#include "optim/attention.h"
#include "optim/check_shape.h"
#include "optim/cross_entropy.h"
#include "optim/gelu.h"
#include "optim/matrix_product.h"

namespace optim {
namespace {

// Rows handled at once (whole sequences, at least one): enough that packing a weight costs little
// beside multiplying by it, few enough that a block's activations stay in the level-2 cache.
constexpr std::size_t kRowsAtOnce = 512;

}  // namespace

void TransformerModel::check(std::span<const float> parameters, const Batch& batch) const {
  const std::size_t positions = batch.examples * layout_.shape().context;
  check_size("parameters", parameters.size(), block_size());
  check_size("tokens", batch.tokens.size(), positions, "positions");
  check_size("targets", batch.targets.size(), positions, "positions");
  for (const std::int32_t token : batch.tokens) {
    if (token >= 0 && static_cast<std::size_t>(token) < layout_.shape().vocabulary) continue;
    throw std::invalid_argument(fmt::format("token must be a symbol in [0, {}); got {}",
                                            layout_.shape().vocabulary, token));
  }
}

template <typename Use>
void TransformerModel::for_each_group(const Batch& batch, const Use& use) const {
  const std::size_t context = layout_.shape().context;
  const std::size_t most = std::max<std::size_t>(1, kRowsAtOnce / context);
  for (std::size_t first = 0; first < batch.examples; first += most) {
    const std::size_t count = std::min(most, batch.examples - first);
    const std::span<const std::int32_t> tokens(batch.tokens), targets(batch.targets);
    use({count, tokens.subspan(first * context, count * context),
         targets.subspan(first * context, count * context)});
  }
}

double TransformerModel::loss_and_gradient(std::span<const float> parameters, const Batch& batch,
                                           std::span<float> gradient,
                                           std::vector<float>& scratch) const {
  check(parameters, batch);
  check_size("gradient", gradient.size(), block_size());
  const float weight = 1.0f / static_cast<float>(layout_.shape().context);
  double loss_sum = 0.0;
  for_each_group(batch, [&](const Sequences& sequences) {
    TransformerArrays arrays(layout_.shape(), sequences.count, Keep::kEveryBlock, scratch);
    forward(parameters.data(), sequences, arrays);
    loss_sum += losses(sequences, weight, arrays);
    backward(parameters.data(), sequences, arrays, gradient.data());
  });
  return loss_sum;
}

double TransformerModel::loss(std::span<const float> parameters, const Batch& batch,
                              std::vector<float>& scratch) const {
  check(parameters, batch);
  double loss_sum = 0.0;
  for_each_group(batch, [&](const Sequences& sequences) {
    TransformerArrays arrays(layout_.shape(), sequences.count, Keep::kLastBlock, scratch);
    forward(parameters.data(), sequences, arrays);
    loss_sum += losses(sequences, 0.0f, arrays);
  });
  return loss_sum;
}

void TransformerModel::forward(const float* parameters, const Sequences& sequences,
                               TransformerArrays& arrays) const {
  const TransformerShape& shape = layout_.shape();
  const std::size_t d = shape.width;
  const float* const embedding = parameters + layout_.embedding();
  const float* const position = parameters + layout_.position();
  for (std::size_t row = 0; row < arrays.rows(); ++row) {
    const float* const symbol = embedding + static_cast<std::size_t>(sequences.tokens[row]) * d;
    const float* const place = position + row % shape.context * d;
    float* const x = arrays.stream + row * d;
    for (std::size_t j = 0; j < d; ++j) x[j] = symbol[j] + place[j];
  }
  for (std::size_t layer = 0; layer < shape.layers; ++layer) {
    forward_block(parameters, layer, arrays);
  }
  set_layer_norm(arrays.rows(), d, arrays.stream, parameters + layout_.final_gain(),
                 parameters + layout_.final_bias(), arrays.final, arrays.entering_logits);
  const Panels symbols = pack(row_major(embedding, d).transposed(), d, shape.vocabulary, arrays.room);
  multiply(row_major(arrays.entering_logits, d), arrays.rows(), symbols, {}, arrays.logits,
           shape.vocabulary);
}

void TransformerModel::forward_block(const float* parameters, std::size_t layer,
                                     TransformerArrays& arrays) const {
  const TransformerShape& shape = layout_.shape();
  const std::size_t d = shape.width, wide = shape.wide(), rows = arrays.rows();
  const BlockOffsets at = layout_.block(layer);
  const BlockArrays block = arrays.block(layer);
  const auto affine = [&](std::size_t weight, std::size_t bias) {
    return AffineWeights{parameters + weight, parameters + bias};
  };
  set_layer_norm(rows, d, arrays.stream, parameters + at.norm1_gain, parameters + at.norm1_bias,
                 block.norm1, block.entering_qkv);
  set_affine({rows, d, 3 * d}, block.entering_qkv, affine(at.qkv_weight, at.qkv_bias), block.qkv,
             arrays.room);
  const HeadShape head{shape.context, shape.head_width(), 3 * d, d};
  float* shares = block.shares;
  for (std::size_t first = 0; first < rows; first += shape.context) {
    for (std::size_t column = 0; column < d; column += shape.head_width()) {
      const float* const query = block.qkv + first * 3 * d + column;
      attend(head, {query, query + d, query + 2 * d}, shares, block.attended + first * d + column,
             arrays.room);
      shares += share_floats(shape.context);
    }
  }
  add_affine({rows, d, d}, block.attended, affine(at.attention_weight, at.attention_bias),
             arrays.stream, arrays.room);
  set_layer_norm(rows, d, arrays.stream, parameters + at.norm2_gain, parameters + at.norm2_bias,
                 block.norm2, block.entering_wide);
  set_affine({rows, d, wide}, block.entering_wide, affine(at.wide_weight, at.wide_bias),
             block.slope, arrays.room);
  set_gelu_and_slope(rows * wide, block.slope, block.entering_narrow, block.slope);
  add_affine({rows, wide, d}, block.entering_narrow, affine(at.narrow_weight, at.narrow_bias),
             arrays.stream, arrays.room);
}

// The sum over sequences of the mean over positions; the logits become their gradient times `weight`.
double TransformerModel::losses(const Sequences& sequences, float weight,
                                TransformerArrays& arrays) const {
  const std::size_t context = layout_.shape().context, vocabulary = layout_.shape().vocabulary;
  double loss_sum = 0.0;
  for (std::size_t i = 0; i < sequences.count; ++i) {
    const double sum = cross_entropy_of_rows(
        vocabulary, sequences.targets.subspan(i * context, context), weight,
        arrays.logits + i * context * vocabulary);
    loss_sum += sum / static_cast<double>(context);
  }
  return loss_sum;
}

}  // namespace optim

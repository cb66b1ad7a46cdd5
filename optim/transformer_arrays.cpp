// optim/transformer_arrays.cpp: see transformer_arrays.h.
#include "optim/transformer_arrays.h"

#include <algorithm>

#include "optim/attention.h"
#include "optim/matrix_product.h"

namespace optim {
namespace {

// The largest factor that is ever packed: a weight, a transposed weight, a gradient of all rows, or
// what attention needs.
std::size_t room_floats(const TransformerShape& shape, std::size_t rows) {
  const std::size_t d = shape.width, wide = shape.wide(), v = shape.vocabulary;
  return padded(std::max({packed_floats(d, wide), packed_floats(wide, d), packed_floats(d, v),
                          packed_floats(v, d), packed_floats(rows, wide), packed_floats(rows, d),
                          attention_room(shape.context, shape.head_width())}));
}

std::size_t floats_of_block(std::size_t rows, std::size_t width, std::size_t shares) {
  return 5 * padded(rows * width) + 2 * padded(rows) + padded(rows * 3 * width) + shares +
         2 * padded(rows * 4 * width);
}

}  // namespace

TransformerArrays::TransformerArrays(const TransformerShape& shape, std::size_t sequences,
                                     Keep keep, std::vector<float>& buffer)
    : shape_(shape),
      rows_(sequences * shape.context),
      shares_(sequences * shape.heads * share_floats(shape.context)),
      block_floats_(floats_of_block(rows_, shape.width, shares_)),
      keep_(keep) {
  const std::size_t blocks = keep == Keep::kEveryBlock ? shape.layers : 1;
  const std::size_t narrow = padded(rows_ * shape.width);
  const std::size_t floats = blocks * block_floats_ + 5 * narrow + padded(rows_) +
                             padded(rows_ * shape.vocabulary) + padded(rows_ * shape.wide()) +
                             room_floats(shape, rows_);
  next_ = Scratch(buffer, floats).take(floats);
  blocks_ = take(blocks * block_floats_);
  stream = take(narrow);
  final = {take(narrow), take(rows_)};
  entering_logits = take(narrow);
  logits = take(rows_ * shape.vocabulary);
  stream_gradient = take(narrow);
  narrow_gradient = take(narrow);
  wide_gradient = take(rows_ * shape.wide());
  room = take(room_floats(shape, rows_));
}

float* TransformerArrays::take(std::size_t floats) {
  float* const taken = next_;
  next_ += padded(floats);
  return taken;
}

BlockArrays TransformerArrays::block(std::size_t layer) const {
  float* next = blocks_ + (keep_ == Keep::kEveryBlock ? layer * block_floats_ : 0);
  const auto cut = [&next](std::size_t floats) {
    float* const taken = next;
    next += padded(floats);
    return taken;
  };
  const std::size_t narrow = rows_ * shape_.width, wide = rows_ * shape_.wide();
  BlockArrays arrays{};
  arrays.norm1 = {cut(narrow), cut(rows_)};
  arrays.norm2 = {cut(narrow), cut(rows_)};
  arrays.entering_qkv = cut(narrow);
  arrays.qkv = cut(3 * narrow);
  arrays.shares = cut(shares_);
  arrays.attended = cut(narrow);
  arrays.entering_wide = cut(narrow);
  arrays.slope = cut(wide);
  arrays.entering_narrow = cut(wide);
  return arrays;
}

}  // namespace optim

// optim/attention.cpp: see attention.h for the formulas.
#include "optim/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "optim/aligned_block.h"
#include "optim/fast_exp_lanes.h"
#include "optim/lanes.h"
#include "optim/matrix_product.h"

namespace optim {
namespace {

constexpr std::size_t kBlockRows = kLanes;

// row = softmax(scale * row) over its first `count` columns, and zeros up to the end of their group.
void set_shares(std::size_t count, float scale, float* row) {
  const Lanes lowest = all_of(-std::numeric_limits<float>::infinity());
  Lanes most = lowest;
  for_each_group(count, [&](std::size_t j, std::size_t group) {
    most = larger(most, first_of(group, load(row + j), lowest));
  });
  const Lanes top = all_of(highest(most));
  Lanes total = all_of(0.0f);
  for_each_group(count, [&](std::size_t j, std::size_t group) {
    const Lanes z = (load(row + j) - top) * all_of(scale);
    const Lanes e = first_of(group, fast_exp(z), all_of(0.0f));
    store(row + j, e);
    total = total + e;
  });
  const Lanes inverse = all_of(1.0f / sum(total));
  for_each_group(count, [&](std::size_t j, std::size_t) { store(row + j, load(row + j) * inverse); });
}

// slope = scale * share * (slope - sum(share * slope)) over the first `count` columns, then zeros.
void set_score_gradient(std::size_t count, float scale, const float* share, float* slope) {
  Lanes total = all_of(0.0f);
  for_each_group(count, [&](std::size_t j, std::size_t group) {
    total = fused(load_first(group, share + j), load_first(group, slope + j), total);
  });
  const Lanes mean = all_of(sum(total)), factor = all_of(scale);
  for_each_group(count, [&](std::size_t j, std::size_t group) {
    const Lanes away = load_first(group, slope + j) - mean;
    store(slope + j, first_of(group, factor * load(share + j) * away, all_of(0.0f)));
  });
}

float score_scale(std::size_t head_width) {
  return 1.0f / std::sqrt(static_cast<float>(head_width));
}

// block(first row, rows, end) for each block of rows.
template <typename Block>
void for_each_block(std::size_t positions, const Block& block) {
  for (std::size_t first = 0; first < positions; first += kBlockRows) {
    const std::size_t rows = std::min(kBlockRows, positions - first);
    block(first, rows, first + rows);
  }
}

}  // namespace

std::size_t share_floats(std::size_t positions) { return positions * padded(positions); }

std::size_t attention_room(std::size_t positions, std::size_t head_width) {
  return share_floats(positions) + padded(packed_floats(head_width, positions)) +
         3 * padded(packed_floats(positions, head_width));
}

void attend(const HeadShape& shape, const HeadRows<const float>& rows, float* shares,
            float* output, float* room) {
  const std::size_t t = shape.positions, d = shape.head_width, stride = padded(t);
  const float scale = score_scale(d);
  const MatrixView keys{rows.key, shape.qkv_stride, 1}, values{rows.value, shape.qkv_stride, 1};
  const Panels keys_across = pack(keys.transposed(), d, t, room);
  const Panels value_panels = pack(values, t, d, room + padded(packed_floats(d, t)));
  for_each_block(t, [&](std::size_t first, std::size_t count, std::size_t end) {
    float* const p = shares + first * stride;
    multiply({rows.query + first * shape.qkv_stride, shape.qkv_stride, 1}, count, keys_across,
             {0, d, end}, {}, p, stride);
    for (std::size_t r = 0; r < count; ++r) set_shares(first + r + 1, scale, p + r * stride);
    multiply({p, stride, 1}, count, value_panels, {0, end, d}, {},
             output + first * shape.output_stride, shape.output_stride);
  });
}

void set_attention_gradient(const HeadShape& shape, const HeadRows<const float>& rows,
                            const float* shares, const float* output_gradient,
                            const HeadRows<float>& gradient, float* room) {
  const std::size_t t = shape.positions, d = shape.head_width, stride = padded(t);
  const std::size_t across = padded(packed_floats(d, t)), along = padded(packed_floats(t, d));
  const float scale = score_scale(d);
  const auto view = [&](const float* first) { return MatrixView{first, shape.qkv_stride, 1}; };
  float* const slopes = room;  // d loss / d S
  room += share_floats(t);
  const Panels values_across = pack(view(rows.value).transposed(), d, t, room);
  const Panels keys = pack(view(rows.key), t, d, room + across);
  const Panels queries = pack(view(rows.query), t, d, room + across + along);
  const MatrixView output_rows{output_gradient, shape.output_stride, 1};
  const Panels outputs = pack(output_rows, t, d, room + across + 2 * along);
  for_each_block(t, [&](std::size_t first, std::size_t count, std::size_t end) {
    float* const slope = slopes + first * stride;
    multiply({output_gradient + first * shape.output_stride, shape.output_stride, 1}, count,
             values_across, {0, d, end}, {}, slope, stride);
    for (std::size_t r = 0; r < count; ++r) {
      set_score_gradient(first + r + 1, scale, shares + (first + r) * stride, slope + r * stride);
    }
    multiply({slope, stride, 1}, count, keys, {0, end, d}, {},
             gradient.query + first * shape.qkv_stride, shape.qkv_stride);
  });
  for_each_block(t, [&](std::size_t first, std::size_t count, std::size_t) {
    const std::size_t diagonal = first * stride + first;
    const ProductPart below{first, t - first, d};
    multiply({slopes + diagonal, 1, stride}, count, queries, below, {},
             gradient.key + first * shape.qkv_stride, shape.qkv_stride);
    multiply({shares + diagonal, 1, stride}, count, outputs, below, {},
             gradient.value + first * shape.qkv_stride, shape.qkv_stride);
  });
}

}  // namespace optim

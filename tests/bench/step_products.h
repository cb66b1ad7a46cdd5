// tests/bench/step_products.h: the matrix products of one transformer step, and nothing else.
//
// The same calls with the same shapes, in the order of the step, on arrays of its sizes: what share
// of a step they are is this time over the step's.
#pragma once

#include <algorithm>
#include <vector>

#include "optim/aligned_block.h"
#include "optim/attention.h"
#include "optim/matrix_product.h"
#include "tests/bench/transformer_sizes.h"

namespace optim::bench {

class StepProducts {
 public:
  explicit StepProducts(const Size& size)
      : size_(size),
        left_(largest()),
        right_(largest()),
        output_(largest()),
        room_(2 * largest() + attention_room(size.context, head_width())) {}

  void run() {
    const std::size_t d = size_.width, rows = size_.tokens(), v = size_.vocabulary;
    for (std::size_t layer = 0; layer < size_.layers; ++layer) {
      for (const auto& [in, out] : {Pair{d, 3 * d}, Pair{d, d}, Pair{d, 4 * d}, Pair{4 * d, d}}) {
        product(row_major(left_.data(), in), rows, in, row_major(right_.data(), out), out);
        product(row_major(left_.data(), in).transposed(), in, rows, row_major(right_.data(), out), out);
        product(row_major(left_.data(), out), rows, out, row_major(right_.data(), out).transposed(), in);
      }
      for (std::size_t head = 0; head < size_.examples * size_.heads; ++head) attention();
    }
    product(row_major(left_.data(), d), rows, d, row_major(right_.data(), d).transposed(), v);
    product(row_major(left_.data(), v), rows, v, row_major(right_.data(), d), d);
    for (std::size_t i = 0; i < size_.examples; ++i) {
      product(row_major(left_.data(), v).transposed(), v, size_.context,
              row_major(right_.data(), d), d);
    }
  }

  // Multiplications and additions of run(), what lies above the diagonal left out.
  double flop() const {
    const auto d = static_cast<double>(size_.width), v = static_cast<double>(size_.vocabulary);
    const auto t = static_cast<double>(size_.context), layers = static_cast<double>(size_.layers);
    const double matrices = layers * 12.0 * d * d + v * d;
    return static_cast<double>(size_.tokens()) * (6.0 * matrices + layers * 12.0 * d * (t + 1.0) / 2.0);
  }

 private:
  struct Pair {
    std::size_t inputs, outputs;
  };

  std::size_t head_width() const { return size_.width / size_.heads; }
  std::size_t largest() const {
    const std::size_t wide = 4 * size_.width;
    return std::max({size_.tokens() * std::max(wide, size_.vocabulary), wide * wide,
                     size_.context * (size_.context + kFloatsPerLine)}) + kFloatsPerLine;
  }

  void product(const MatrixView& left, std::size_t rows, std::size_t depth, const MatrixView& right,
               std::size_t columns) {
    const Panels panels = pack(right, depth, columns, room_.data());
    multiply(left, rows, panels, {}, output_.data(), columns);
  }

  // Of one head of one sequence, forward and backward: six products, block by block.
  void attention() {
    const std::size_t t = size_.context, d = head_width(), stride = padded(t);
    const MatrixView along{right_.data(), 3 * size_.width, 1};
    float* room = room_.data();
    const Panels across = pack(along.transposed(), d, t, room);
    room += padded(packed_floats(d, t));
    const Panels rows = pack(along, t, d, room);
    for (std::size_t first = 0; first < t; first += kFloatsPerLine) {
      const std::size_t count = std::min(kFloatsPerLine, t - first), end = first + count;
      const MatrixView block{left_.data() + first * size_.width, size_.width, 1};
      for (int i = 0; i < 2; ++i) {
        multiply(block, count, across, {0, d, end}, {}, output_.data() + first * stride, stride);
        multiply({left_.data() + first * stride, stride, 1}, count, rows, {0, end, d}, {},
                 output_.data(), size_.width);
        multiply({left_.data() + first * (stride + 1), 1, stride}, count, rows, {first, t - first, d},
                 {}, output_.data(), size_.width);
      }
    }
  }

  Size size_;
  AlignedBlock left_, right_, output_, room_;
};

}  // namespace optim::bench

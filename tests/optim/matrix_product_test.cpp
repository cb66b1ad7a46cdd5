// tests/optim/matrix_product_test.cpp: products of many rows.
//
// Goal:   every element is the ascending chain of fused multiply-adds that the header promises, to
//         the bit, whatever the strides, the panels, the tile and the stretch of depth it falls into.
// Method: that chain written out with std::fma, which also proves that both instruction-set levels
//         give the same bits.
// Teeth:  seen failing with a second stretch of depth that starts anew, and with the last register of
//         a row stored whole.
#include "optim/matrix_product.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <vector>

#include "tests/optim/same_bits.h"

namespace optim {
namespace {

using Floats = std::vector<float>;

Floats random_floats(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 rng(seed);
  Floats values(count);
  for (float& value : values) value = static_cast<float>(rng() >> 40) / 16777216.0f - 0.5f;
  return values;
}

float at(const MatrixView& view, std::size_t row, std::size_t column) {
  return view.data[row * view.row_stride + column * view.column_stride];
}

// The chain of one element over depth [first, first + count) of both factors.
float chain(const MatrixView& left, const MatrixView& right, std::size_t row, std::size_t column,
            std::size_t first, std::size_t count, float start) {
  for (std::size_t k = first; k < first + count; ++k) {
    start = std::fma(at(left, row, k), at(right, k, column), start);
  }
  return start;
}

struct Case {
  std::size_t rows, depth, columns;
};

TEST_CASE("matrix product: each element is the ascending chain, to the bit", "[unit][optim]") {
  for (const Case& c : {Case{1, 1, 1}, Case{7, 5, 3}, Case{16, 16, 16}, Case{9, 130, 17}, Case{13, 48, 48},
                        Case{50, 3, 64}, Case{97, 260, 40}, Case{8, 20, 144}, Case{5, 7, 81}}) {
    const Floats a = random_floats(c.rows * c.depth, 1), b = random_floats(c.depth * c.columns, 2);
    const Floats bias = random_floats(c.columns, 3), before = random_floats(c.rows * (c.columns + 5), 4);
    Floats room(packed_floats(c.depth, c.columns));
    for (int form = 0; form < 16; ++form) {
      const bool left_across = form & 1, right_across = form & 2, keep = form & 4, biased = form & 8;
      CAPTURE(c.rows, c.depth, c.columns, left_across, right_across, keep, biased);
      const MatrixView left = left_across ? MatrixView{a.data(), 1, c.rows} : row_major(a.data(), c.depth);
      const MatrixView right =
          right_across ? MatrixView{b.data(), 1, c.depth} : row_major(b.data(), c.columns);
      Floats got = before, expected = before;
      multiply(left, c.rows, pack(right, c.depth, c.columns, room.data()),
               {keep, biased ? bias.data() : nullptr}, got.data(), c.columns + 5);
      for (std::size_t i = 0; i < c.rows; ++i) {
        for (std::size_t j = 0; j < c.columns; ++j) {
          float& element = expected[i * (c.columns + 5) + j];
          float start = biased ? bias[j] : 0.0f;
          if (keep) start = biased ? element + bias[j] : element;
          element = chain(left, right, i, j, 0, c.depth, start);
        }
      }
      REQUIRE(same_bits(got, expected));  // and nothing is written beside the columns
    }
  }
}

TEST_CASE("matrix product: a part of the depth continues where another ended", "[unit][optim]") {
  constexpr std::size_t kRows = 11, kDepth = 150, kColumns = 70;
  const Floats a = random_floats(kRows * kDepth, 1), b = random_floats(kDepth * kColumns, 2);
  Floats room(packed_floats(kDepth, kColumns)), whole(kRows * kColumns), parts(kRows * kColumns);
  const Panels panels = pack(row_major(b.data(), kColumns), kDepth, kColumns, room.data());
  multiply(row_major(a.data(), kDepth), kRows, panels, {}, whole.data(), kColumns);
  bool keep = false;
  for (const auto& [first, count] : {std::pair<std::size_t, std::size_t>{0, 1}, {1, 40}, {41, 109}}) {
    multiply({a.data() + first, kDepth, 1}, kRows, panels, {first, count, kColumns},
             {.keep = keep, .bias = nullptr}, parts.data(), kColumns);
    keep = true;
  }
  CHECK(same_bits(parts, whole));
}

TEST_CASE("matrix product: a depth of nothing leaves what the sum starts from", "[unit][optim]") {
  Floats room(64), output(6, 9.0f);
  const Floats bias = {1.0f, 2.0f, 3.0f};
  const Panels nothing = pack(row_major(bias.data(), 3), 0, 3, room.data());
  multiply(row_major(bias.data(), 1), 2, nothing, {.keep = false, .bias = bias.data()}, output.data(), 3);
  CHECK(output == Floats{1.0f, 2.0f, 3.0f, 1.0f, 2.0f, 3.0f});
}

}  // namespace
}  // namespace optim

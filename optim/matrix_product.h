// optim/matrix_product.h: products of matrices with many rows, for sequences.
//
// dense.h serves the few examples of a perceptron; a sequence brings a row per position, and then it
// pays to copy the right factor into panels of a few registers' width and to keep a tile of the
// result in registers. Every element is summed by ascending index of the inner dimension, each term
// a fused multiply-add onto the last: in one order that depends neither on addresses nor on the
// number of rows nor on the vector width, so rows cut into several calls give the bits of one call,
// and both instruction-set levels give the same.
//
// Shapes: R rows, K inner (depth), N columns.
#pragma once

#include <cstddef>

namespace optim {

// A matrix at any two strides (in floats), one of which is 1; swapped strides are the transpose.
struct MatrixView {
  const float* data;
  std::size_t row_stride, column_stride;

  MatrixView transposed() const { return {data, column_stride, row_stride}; }
};

inline MatrixView row_major(const float* data, std::size_t columns) { return {data, columns, 1}; }

// A right factor (K x N), ready to be multiplied: panels of columns one after another.
struct Panels {
  const float* data;
  std::size_t depth, columns;
  std::size_t row_stride;  // 0: packed, a panel's own width; else the matrix itself, one panel wide
};

// Floats of `room` that pack() needs for a factor (depth x columns).
std::size_t packed_floats(std::size_t depth, std::size_t columns);

// Copies `factor` into `room`, or refers to the matrix itself where it is one panel already. Valid
// as long as both are.
Panels pack(const MatrixView& factor, std::size_t depth, std::size_t columns, float* room);

// What a sum starts from: `keep` the output or zero, plus a row of bias (N) unless null.
struct SumStart {
  bool keep = false;
  const float* bias = nullptr;
};

// Part of a product: depth [first, first + count), and the panels that hold columns below `columns`.
struct ProductPart {
  std::size_t first_depth, depth_count, columns;
};

// output (R x N, at stride output_stride) = start + left (R x K) times right (K x N).
void multiply(const MatrixView& left, std::size_t rows, const Panels& right, SumStart start,
              float* output, std::size_t output_stride);
// The same over a part of the depth; panels that begin at or past `part.columns` are left alone.
// Requires: left is at depth part.first_depth already.
void multiply(const MatrixView& left, std::size_t rows, const Panels& right,
              const ProductPart& part, SumStart start, float* output, std::size_t output_stride);

}  // namespace optim

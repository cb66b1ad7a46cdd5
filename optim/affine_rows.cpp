// optim/affine_rows.cpp: see affine_rows.h.
#include "optim/affine_rows.h"

#include "optim/lanes.h"
#include "optim/matrix_product.h"

namespace optim {
namespace {

void add_rows(std::size_t rows, std::size_t columns, const float* values, float* sums) {
  for_each_group(columns, [&](std::size_t j, std::size_t count) {
    Lanes total = load_first(count, sums + j);
    for (std::size_t r = 0; r < rows; ++r) {
      total = total + load_first(count, values + r * columns + j);
    }
    store_first(count, sums + j, total);
  });
}

}  // namespace

void set_affine(const LayerShape& shape, const float* inputs, const AffineWeights& weights,
                float* outputs, float* room) {
  const Panels panels =
      pack(row_major(weights.weight, shape.outputs), shape.inputs, shape.outputs, room);
  multiply(row_major(inputs, shape.inputs), shape.examples, panels,
           {.keep = false, .bias = weights.bias}, outputs, shape.outputs);
}

void add_affine(const LayerShape& shape, const float* inputs, const AffineWeights& weights,
                float* outputs, float* room) {
  const Panels panels =
      pack(row_major(weights.weight, shape.outputs), shape.inputs, shape.outputs, room);
  multiply(row_major(inputs, shape.inputs), shape.examples, panels,
           {.keep = true, .bias = weights.bias}, outputs, shape.outputs);
}

void add_affine_gradient(const LayerShape& shape, const float* inputs, const float* output_gradient,
                         const AffineGradient& gradient, float* room) {
  const Panels panels =
      pack(row_major(output_gradient, shape.outputs), shape.examples, shape.outputs, room);
  multiply(row_major(inputs, shape.inputs).transposed(), shape.inputs, panels, {.keep = true},
           gradient.weight, shape.outputs);
  add_rows(shape.examples, shape.outputs, output_gradient, gradient.bias);
}

void set_entering_gradient(const LayerShape& shape, const float* output_gradient,
                           const float* weight, float* input_gradient, float* room) {
  const Panels panels = pack(row_major(weight, shape.outputs).transposed(), shape.outputs,
                             shape.inputs, room);
  multiply(row_major(output_gradient, shape.outputs), shape.examples, panels, {}, input_gradient,
           shape.inputs);
}

}  // namespace optim

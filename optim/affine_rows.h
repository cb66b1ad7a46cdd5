// optim/affine_rows.h: an affine layer over the many rows of sequences, and its derivative.
//
//   z = a W + b     (R x O) = (R x I) (I x O) + (O)
//
// Order: per element by ascending inner index (matrix_product.h); bias gradients by ascending row.
// `room` holds one packed factor: (I x O), (O x I) or (R x O), whichever is largest.
#pragma once

#include <cstddef>

#include "optim/dense.h"

namespace optim {

struct AffineWeights {
  const float *weight, *bias;
};

struct AffineGradient {
  float *weight, *bias;
};

// outputs = inputs W + b
void set_affine(const LayerShape& shape, const float* inputs, const AffineWeights& weights,
                float* outputs, float* room);
// outputs += inputs W + b, starting from outputs + b
void add_affine(const LayerShape& shape, const float* inputs, const AffineWeights& weights,
                float* outputs, float* room);

// weight += inputs^T output_gradient ; bias += sum over rows of output_gradient
void add_affine_gradient(const LayerShape& shape, const float* inputs, const float* output_gradient,
                         const AffineGradient& gradient, float* room);
// input_gradient = output_gradient W^T
void set_entering_gradient(const LayerShape& shape, const float* output_gradient,
                           const float* weight, float* input_gradient, float* room);

}  // namespace optim

// optim/layer_norm.h: layer normalisation of rows, and its derivative.
//
//   mean = sum(x) / N ;  variance = sum((x - mean)^2) / N
//   normal = (x - mean) * scale,  scale = 1 / sqrt(variance + 1e-5)
//   y = normal * gain + bias
//
// Shapes: R rows of N columns, dense; gain and bias (N).
// Order:  sums over a row run in sixteen lanes by column, folded by halves.
// Source: Ba, Kiros & Hinton 2016, arXiv:1607.06450, equation 4; epsilon as in torch.nn.LayerNorm.
#pragma once

#include <cstddef>

namespace optim {

// What backward needs of forward.
struct NormalisedRows {
  float* normal;  // (R x N)
  float* scale;   // (R)
};

void set_layer_norm(std::size_t rows, std::size_t columns, const float* input, const float* gain,
                    const float* bias, const NormalisedRows& normalised, float* output);

// With g = output_gradient * gain, m = mean(g) and c = mean(g * normal), each over a row:
//   input_gradient += scale * (g - m - normal * c)
//   gain_gradient  += sum over rows, ascending, of output_gradient * normal
//   bias_gradient  += sum over rows, ascending, of output_gradient
void add_layer_norm_gradient(std::size_t rows, std::size_t columns, const float* output_gradient,
                             const float* gain, const NormalisedRows& normalised,
                             float* input_gradient, float* gain_gradient, float* bias_gradient);

}  // namespace optim

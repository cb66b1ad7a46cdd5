// optim/gelu.h: the Gaussian error linear unit in its tanh form, and its derivative.
//
//   u = sqrt(8 / pi) * (x + 0.044715 x^3) ;  s = 1 / (1 + e^-u)
//   gelu(x)  = x s                              (= x/2 (1 + tanh(u / 2)))
//   gelu'(x) = s + x s (1 - s) u'(x)
//
// Source: Hendrycks & Gimpel 2016, arXiv:1606.08415; torch.nn.GELU(approximate="tanh").
#pragma once

#include <cstddef>

namespace optim {

// output = gelu(input), element by element; not in place.
void set_gelu(std::size_t count, const float* input, float* output);

// output = gelu(input) and slope = gelu'(input), the bits of the other two; `slope` may be `input`.
void set_gelu_and_slope(std::size_t count, const float* input, float* output, float* slope);

// gradient *= gelu'(input); two arrays that do not overlap.
void multiply_by_gelu_slope(std::size_t count, const float* input, float* gradient);

}  // namespace optim

// optim/elementwise.cpp: see elementwise.h.
#include "optim/elementwise.h"

#include "optim/check_shape.h"

namespace optim {

void multiply_by(std::size_t count, const float* __restrict factors, float* __restrict values) {
  for (std::size_t i = 0; i < count; ++i) values[i] *= factors[i];
}

void scale(std::span<float> values, float factor) {
  for (float& value : values) value *= factor;
}

void add(std::span<float> total, std::span<const float> part) {
  check_size("part", part.size(), total.size());
  float* __restrict const to = total.data();
  const float* __restrict const from = part.data();
  for (std::size_t i = 0; i < total.size(); ++i) to[i] += from[i];
}

}  // namespace optim

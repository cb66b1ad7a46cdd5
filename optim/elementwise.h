// optim/elementwise.h: what is done to whole blocks of floats, element by element.
//
// Compiled with the mathematics, and so in vectors; the same bits wherever it is cut.
#pragma once

#include <cstddef>
#include <span>

namespace optim {

// values *= factors. Requires: `factors` has at least `count` floats, as `values`.
void multiply_by(std::size_t count, const float* factors, float* values);

// values *= factor
void scale(std::span<float> values, float factor);

// total += part. Requires: equal sizes; else std::invalid_argument.
void add(std::span<float> total, std::span<const float> part);

}  // namespace optim

// optim/layer_norm.cpp: see layer_norm.h for the formulas.
#include "optim/layer_norm.h"

#include <cmath>

#include "optim/lanes.h"

namespace optim {
namespace {

constexpr float kEpsilon = 1e-5f;

float row_mean(std::size_t columns, const float* row) {
  Lanes total = all_of(0.0f);
  for_each_group(columns, [&](std::size_t j, std::size_t count) {
    total = total + load_first(count, row + j);
  });
  return sum(total) / static_cast<float>(columns);
}

float row_variance(std::size_t columns, const float* row, float mean) {
  Lanes total = all_of(0.0f);
  for_each_group(columns, [&](std::size_t j, std::size_t count) {
    const Lanes away = first_of(count, load_first(count, row + j) - all_of(mean), all_of(0.0f));
    total = fused(away, away, total);
  });
  return sum(total) / static_cast<float>(columns);
}

}  // namespace

void set_layer_norm(std::size_t rows, std::size_t columns, const float* input, const float* gain,
                    const float* bias, const NormalisedRows& normalised, float* output) {
  for (std::size_t r = 0; r < rows; ++r) {
    const float* const x = input + r * columns;
    float* const normal = normalised.normal + r * columns;
    float* const y = output + r * columns;
    const float mean = row_mean(columns, x);
    const float scale = 1.0f / std::sqrt(row_variance(columns, x, mean) + kEpsilon);
    normalised.scale[r] = scale;
    for_each_group(columns, [&](std::size_t j, std::size_t count) {
      const Lanes z = (load_first(count, x + j) - all_of(mean)) * all_of(scale);
      store_first(count, normal + j, z);
      store_first(count, y + j, fused(z, load_first(count, gain + j), load_first(count, bias + j)));
    });
  }
}

void add_layer_norm_gradient(std::size_t rows, std::size_t columns, const float* output_gradient,
                             const float* gain, const NormalisedRows& normalised,
                             float* input_gradient, float* gain_gradient, float* bias_gradient) {
  const float share = 1.0f / static_cast<float>(columns);
  for (std::size_t r = 0; r < rows; ++r) {
    const float* const dy = output_gradient + r * columns;
    const float* const normal = normalised.normal + r * columns;
    Lanes sum_g = all_of(0.0f), sum_gz = all_of(0.0f);
    for_each_group(columns, [&](std::size_t j, std::size_t count) {
      const Lanes gradient = load_first(count, dy + j), z = load_first(count, normal + j);
      const Lanes g = gradient * load_first(count, gain + j);
      sum_g = sum_g + g;
      sum_gz = fused(g, z, sum_gz);
      store_first(count, gain_gradient + j,
                  fused(gradient, z, load_first(count, gain_gradient + j)));
      store_first(count, bias_gradient + j, load_first(count, bias_gradient + j) + gradient);
    });
    const Lanes mean_g = all_of(sum(sum_g) * share), mean_gz = all_of(sum(sum_gz) * share);
    const Lanes scale = all_of(normalised.scale[r]);
    float* const dx = input_gradient + r * columns;
    for_each_group(columns, [&](std::size_t j, std::size_t count) {
      const Lanes g = load_first(count, dy + j) * load_first(count, gain + j);
      const Lanes z = load_first(count, normal + j);
      const Lanes inner = g - mean_g - z * mean_gz;
      store_first(count, dx + j, fused(scale, inner, load_first(count, dx + j)));
    });
  }
}

}  // namespace optim

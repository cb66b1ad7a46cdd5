// optim/gelu.cpp: see gelu.h for the formulas.
#include "optim/gelu.h"

#include "optim/fast_exp.h"
#include "optim/fast_exp_lanes.h"
#include "optim/lanes.h"

namespace optim {
namespace {

constexpr float kScale = 1.59576912f;            // sqrt(8 / pi)
constexpr float kCube = kScale * 0.044715f;

float sigmoid(float u) { return 1.0f / (1.0f + fast_exp(-u)); }

}  // namespace

void set_gelu(std::size_t count, const float* __restrict input, float* __restrict output) {
  for (std::size_t i = 0; i < count; ++i) {
    const float x = input[i];
    output[i] = x * sigmoid(x * std::fma(kCube, x * x, kScale));
  }
}

void set_gelu_and_slope(std::size_t count, const float* input, float* output, float* slope) {
  const Lanes one = all_of(1.0f), scale = all_of(kScale), cube = all_of(kCube);
  for_each_group(count, [&](std::size_t i, std::size_t group) {
    const Lanes x = load_first(group, input + i);
    const Lanes square = x * x;
    const Lanes u = x * fused(cube, square, scale);
    const Lanes s = one / (one + fast_exp(all_of(0.0f) - u));
    const Lanes inner_slope = fused(all_of(3.0f * kCube), square, scale);
    store_first(group, output + i, x * s);
    store_first(group, slope + i, fused(x * s * (one - s), inner_slope, s));
  });
}

void multiply_by_gelu_slope(std::size_t count, const float* __restrict input,
                            float* __restrict gradient) {
  for (std::size_t i = 0; i < count; ++i) {
    const float x = input[i];
    const float s = sigmoid(x * std::fma(kCube, x * x, kScale));
    const float inner_slope = std::fma(3.0f * kCube, x * x, kScale);
    gradient[i] *= std::fma(x * s * (1.0f - s), inner_slope, s);
  }
}

}  // namespace optim

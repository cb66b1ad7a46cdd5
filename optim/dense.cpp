// optim/dense.cpp: register tiles of up to four examples; see dense.h for the order of every sum.
#include "optim/dense.h"

#include <immintrin.h>

#include <algorithm>
#include <cmath>

namespace optim {
namespace {

constexpr std::size_t kLanes = 8;

// Columns [column, column + 8 V) of R examples, kept in registers over all inputs.
template <std::size_t R, std::size_t V>
void forward_tile(const LayerShape& shape, const float* inputs, const float* weights,
                  float* outputs) {
  __m256 sums[R][V];
  for (std::size_t r = 0; r < R; ++r) {
    for (std::size_t v = 0; v < V; ++v) {
      sums[r][v] = _mm256_loadu_ps(outputs + r * shape.outputs + v * kLanes);
    }
  }
  for (std::size_t i = 0; i < shape.inputs; ++i) {
    __m256 row[V];
    for (std::size_t v = 0; v < V; ++v) {
      row[v] = _mm256_loadu_ps(weights + i * shape.outputs + v * kLanes);
    }
    for (std::size_t r = 0; r < R; ++r) {
      const __m256 input = _mm256_broadcast_ss(inputs + r * shape.inputs + i);
      for (std::size_t v = 0; v < V; ++v) sums[r][v] = _mm256_fmadd_ps(input, row[v], sums[r][v]);
    }
  }
  for (std::size_t r = 0; r < R; ++r) {
    for (std::size_t v = 0; v < V; ++v) {
      _mm256_storeu_ps(outputs + r * shape.outputs + v * kLanes, sums[r][v]);
    }
  }
}

template <std::size_t R>
void forward_rows(const LayerShape& shape, const float* inputs, const float* weights,
                  float* outputs) {
  constexpr std::size_t kWide = R <= 2 ? 4 : 2;  // eight sums hide their latency; twelve spill
  std::size_t column = 0;
  for (; column + kWide * kLanes <= shape.outputs; column += kWide * kLanes) {
    forward_tile<R, kWide>(shape, inputs, weights + column, outputs + column);
  }
  for (; column + 2 * kLanes <= shape.outputs; column += 2 * kLanes) {
    forward_tile<R, 2>(shape, inputs, weights + column, outputs + column);
  }
  for (; column + kLanes <= shape.outputs; column += kLanes) {
    forward_tile<R, 1>(shape, inputs, weights + column, outputs + column);
  }
  for (; column < shape.outputs; ++column) {
    for (std::size_t r = 0; r < R; ++r) {
      float sum = outputs[r * shape.outputs + column];
      for (std::size_t i = 0; i < shape.inputs; ++i) {
        sum = std::fma(inputs[r * shape.inputs + i], weights[i * shape.outputs + column], sum);
      }
      outputs[r * shape.outputs + column] = sum;
    }
  }
}

// The sum of the lanes of each of four vectors: ((0+1)+(2+3)) + ((4+5)+(6+7)).
__m128 fold(const __m256 (&sums)[4]) {
  const __m256 pairs = _mm256_hadd_ps(_mm256_hadd_ps(sums[0], sums[1]),
                                      _mm256_hadd_ps(sums[2], sums[3]));
  return _mm_add_ps(_mm256_castps256_ps128(pairs), _mm256_extractf128_ps(pairs, 1));
}

// Inputs [i, i + W) of R examples.
template <std::size_t R, std::size_t W>
void input_gradient_tile(const LayerShape& shape, const float* output_gradient,
                         const float* weights, float* input_gradient) {
  __m256 sums[W][4];
  for (std::size_t w = 0; w < W; ++w) {
    for (std::size_t r = 0; r < 4; ++r) sums[w][r] = _mm256_setzero_ps();
  }
  std::size_t column = 0;
  for (; column + kLanes <= shape.outputs; column += kLanes) {
    __m256 row[W];
    for (std::size_t w = 0; w < W; ++w) {
      row[w] = _mm256_loadu_ps(weights + w * shape.outputs + column);
    }
    for (std::size_t r = 0; r < R; ++r) {
      const __m256 gradient = _mm256_loadu_ps(output_gradient + r * shape.outputs + column);
      for (std::size_t w = 0; w < W; ++w) {
        sums[w][r] = _mm256_fmadd_ps(gradient, row[w], sums[w][r]);
      }
    }
  }
  for (std::size_t w = 0; w < W; ++w) {
    alignas(16) float folded[4];
    _mm_store_ps(folded, fold(sums[w]));
    for (std::size_t r = 0; r < R; ++r) {
      float sum = folded[r];
      for (std::size_t rest = column; rest < shape.outputs; ++rest) {
        sum = std::fma(output_gradient[r * shape.outputs + rest],
                       weights[w * shape.outputs + rest], sum);
      }
      input_gradient[r * shape.inputs + w] = sum;
    }
  }
}

template <std::size_t R>
void input_gradient_rows(const LayerShape& shape, const float* output_gradient,
                         const float* weights, float* input_gradient) {
  std::size_t i = 0;
  for (; i + 2 <= shape.inputs; i += 2) {
    input_gradient_tile<R, 2>(shape, output_gradient, weights + i * shape.outputs,
                              input_gradient + i);
  }
  for (; i < shape.inputs; ++i) {
    input_gradient_tile<R, 1>(shape, output_gradient, weights + i * shape.outputs,
                              input_gradient + i);
  }
}

// Columns [column, column + 8 V) of all weights, R examples; the examples' gradients stay in
// registers.
template <std::size_t R, std::size_t V>
void weight_gradient_tile(const LayerShape& shape, const float* inputs,
                          const float* output_gradient, float* weight_gradient) {
  __m256 gradient[R][V];
  for (std::size_t r = 0; r < R; ++r) {
    for (std::size_t v = 0; v < V; ++v) {
      gradient[r][v] = _mm256_loadu_ps(output_gradient + r * shape.outputs + v * kLanes);
    }
  }
  for (std::size_t i = 0; i < shape.inputs; ++i) {
    float* row = weight_gradient + i * shape.outputs;
    __m256 sums[V];
    for (std::size_t v = 0; v < V; ++v) sums[v] = _mm256_loadu_ps(row + v * kLanes);
    for (std::size_t r = 0; r < R; ++r) {
      const __m256 input = _mm256_broadcast_ss(inputs + r * shape.inputs + i);
      for (std::size_t v = 0; v < V; ++v) sums[v] = _mm256_fmadd_ps(input, gradient[r][v], sums[v]);
    }
    for (std::size_t v = 0; v < V; ++v) _mm256_storeu_ps(row + v * kLanes, sums[v]);
  }
}

template <std::size_t R>
void weight_gradient_rows(const LayerShape& shape, const float* inputs,
                          const float* output_gradient, float* weight_gradient) {
  std::size_t column = 0;
  for (; column + 2 * kLanes <= shape.outputs; column += 2 * kLanes) {
    weight_gradient_tile<R, 2>(shape, inputs, output_gradient + column, weight_gradient + column);
  }
  for (; column + kLanes <= shape.outputs; column += kLanes) {
    weight_gradient_tile<R, 1>(shape, inputs, output_gradient + column, weight_gradient + column);
  }
  for (; column < shape.outputs; ++column) {
    for (std::size_t i = 0; i < shape.inputs; ++i) {
      float sum = weight_gradient[i * shape.outputs + column];
      for (std::size_t r = 0; r < R; ++r) {
        sum = std::fma(inputs[r * shape.inputs + i], output_gradient[r * shape.outputs + column],
                       sum);
      }
      weight_gradient[i * shape.outputs + column] = sum;
    }
  }
}

}  // namespace

void add_forward(const LayerShape& shape, const float* inputs, const float* weights,
                 float* outputs) {
  for (std::size_t first = 0; first < shape.examples; first += 4) {
    const float* in = inputs + first * shape.inputs;
    float* out = outputs + first * shape.outputs;
    switch (std::min<std::size_t>(4, shape.examples - first)) {
      case 4: forward_rows<4>(shape, in, weights, out); break;
      case 3: forward_rows<3>(shape, in, weights, out); break;
      case 2: forward_rows<2>(shape, in, weights, out); break;
      default: forward_rows<1>(shape, in, weights, out); break;
    }
  }
}

void set_input_gradient(const LayerShape& shape, const float* output_gradient,
                        const float* weights, float* input_gradient) {
  for (std::size_t first = 0; first < shape.examples; first += 4) {
    const float* out = output_gradient + first * shape.outputs;
    float* in = input_gradient + first * shape.inputs;
    switch (std::min<std::size_t>(4, shape.examples - first)) {
      case 4: input_gradient_rows<4>(shape, out, weights, in); break;
      case 3: input_gradient_rows<3>(shape, out, weights, in); break;
      case 2: input_gradient_rows<2>(shape, out, weights, in); break;
      default: input_gradient_rows<1>(shape, out, weights, in); break;
    }
  }
}

void add_weight_gradient(const LayerShape& shape, const float* inputs,
                         const float* output_gradient, float* weight_gradient) {
  for (std::size_t first = 0; first < shape.examples; first += 4) {
    const float* in = inputs + first * shape.inputs;
    const float* out = output_gradient + first * shape.outputs;
    switch (std::min<std::size_t>(4, shape.examples - first)) {
      case 4: weight_gradient_rows<4>(shape, in, out, weight_gradient); break;
      case 3: weight_gradient_rows<3>(shape, in, out, weight_gradient); break;
      case 2: weight_gradient_rows<2>(shape, in, out, weight_gradient); break;
      default: weight_gradient_rows<1>(shape, in, out, weight_gradient); break;
    }
  }
}

}  // namespace optim

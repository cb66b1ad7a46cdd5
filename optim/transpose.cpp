// optim/transpose.cpp: see transpose.h.
#include "optim/transpose.h"

#include <immintrin.h>

#include <algorithm>

namespace optim {
namespace {

constexpr std::size_t kSide = 8;

// to (8 x 8, at to_stride) = the transpose of from (8 x 8, at from_stride).
void transpose_tile(const float* from, std::size_t from_stride, float* to,
                    std::size_t to_stride) {
  __m256 rows[kSide], pairs[kSide], fours[kSide];
  for (std::size_t i = 0; i < kSide; ++i) rows[i] = _mm256_loadu_ps(from + i * from_stride);
  for (std::size_t i = 0; i < kSide; i += 2) {
    pairs[i] = _mm256_unpacklo_ps(rows[i], rows[i + 1]);
    pairs[i + 1] = _mm256_unpackhi_ps(rows[i], rows[i + 1]);
  }
  for (std::size_t i = 0; i < kSide; i += 4) {
    fours[i] = _mm256_shuffle_ps(pairs[i], pairs[i + 2], 0x44);
    fours[i + 1] = _mm256_shuffle_ps(pairs[i], pairs[i + 2], 0xEE);
    fours[i + 2] = _mm256_shuffle_ps(pairs[i + 1], pairs[i + 3], 0x44);
    fours[i + 3] = _mm256_shuffle_ps(pairs[i + 1], pairs[i + 3], 0xEE);
  }
  for (std::size_t i = 0; i < 4; ++i) {
    _mm256_storeu_ps(to + i * to_stride, _mm256_permute2f128_ps(fours[i], fours[i + 4], 0x20));
    _mm256_storeu_ps(to + (i + 4) * to_stride,
                     _mm256_permute2f128_ps(fours[i], fours[i + 4], 0x31));
  }
}

}  // namespace

void pack_transposed(const float* from, std::size_t stride, std::size_t depth, std::size_t count,
                     std::size_t width, float* panel) {
  const std::size_t whole_depth = depth / kSide * kSide, whole_count = count / kSide * kSide;
  for (std::size_t j = 0; j < whole_count; j += kSide) {
    for (std::size_t k = 0; k < whole_depth; k += kSide) {
      transpose_tile(from + j * stride + k, stride, panel + k * width + j, width);
    }
  }
  for (std::size_t k = 0; k < depth; ++k) {
    const std::size_t first = k < whole_depth ? whole_count : 0;
    for (std::size_t j = first; j < count; ++j) panel[k * width + j] = from[j * stride + k];
    std::fill_n(panel + k * width + count, width - count, 0.0f);
  }
}

}  // namespace optim

// optim/vector_register.h: one vector register of floats, as wide as the instruction-set level has.
//
// For the tiles of matrix_product, whose elements never meet: their bits do not depend on the width.
// What sums across a row is written with Lanes (lanes.h), which are sixteen at every level.
#pragma once

#include <immintrin.h>

#include <cstddef>

namespace optim {

#ifdef __AVX512F__

constexpr std::size_t kWide = 16;           // floats of a register
constexpr std::size_t kMostRegisters = 4;   // of a row of a tile; 32 registers in all
using Register = __m512;

inline Register zero_register() { return _mm512_setzero_ps(); }
inline Register broadcast(float x) { return _mm512_set1_ps(x); }
inline Register load_register(const float* from) { return _mm512_loadu_ps(from); }
inline void store_register(float* to, Register x) { _mm512_storeu_ps(to, x); }
inline Register fused(Register a, Register b, Register c) { return _mm512_fmadd_ps(a, b, c); }
inline __mmask16 first_bits(std::size_t count) {
  return static_cast<__mmask16>((1u << count) - 1u);
}
// The first `count` floats, then zeros; touches nothing behind them.
inline Register load_register(const float* from, std::size_t count) {
  return _mm512_maskz_loadu_ps(first_bits(count), from);
}
inline void store_register(float* to, Register x, std::size_t count) {
  _mm512_mask_storeu_ps(to, first_bits(count), x);
}

#else

constexpr std::size_t kWide = 8;
constexpr std::size_t kMostRegisters = 3;  // 16 registers in all
using Register = __m256;

inline Register zero_register() { return _mm256_setzero_ps(); }
inline Register broadcast(float x) { return _mm256_set1_ps(x); }
inline Register load_register(const float* from) { return _mm256_loadu_ps(from); }
inline void store_register(float* to, Register x) { _mm256_storeu_ps(to, x); }
inline Register fused(Register a, Register b, Register c) { return _mm256_fmadd_ps(a, b, c); }
inline __m256i first_bits(std::size_t count) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)),
                            _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
// The first `count` floats, then zeros; touches nothing behind them.
inline Register load_register(const float* from, std::size_t count) {
  if (count == kWide) return load_register(from);
  return _mm256_maskload_ps(from, first_bits(count));
}
inline void store_register(float* to, Register x, std::size_t count) {
  if (count == kWide) return store_register(to, x);
  _mm256_maskstore_ps(to, first_bits(count), x);
}

#endif

}  // namespace optim

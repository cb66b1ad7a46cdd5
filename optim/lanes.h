// optim/lanes.h: sixteen floats at once, with the same bits at every instruction-set level.
//
// One register at x86-64-v4 and two at x86-64-v3: every operation is element by element except sum
// and highest, which fold by halves. So what is written with Lanes rounds alike at both levels, and
// tails are masked instead of being computed by other code.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace optim {

constexpr std::size_t kLanes = 16;

#ifdef __AVX512F__

struct Lanes {
  __m512 all;
};

inline Lanes load(const float* from) { return {_mm512_loadu_ps(from)}; }
inline void store(float* to, Lanes x) { _mm512_storeu_ps(to, x.all); }
inline Lanes all_of(float x) { return {_mm512_set1_ps(x)}; }
inline Lanes operator+(Lanes a, Lanes b) { return {_mm512_add_ps(a.all, b.all)}; }
inline Lanes operator-(Lanes a, Lanes b) { return {_mm512_sub_ps(a.all, b.all)}; }
inline Lanes operator*(Lanes a, Lanes b) { return {_mm512_mul_ps(a.all, b.all)}; }
inline Lanes operator/(Lanes a, Lanes b) { return {_mm512_div_ps(a.all, b.all)}; }
inline Lanes square_root(Lanes a) { return {_mm512_sqrt_ps(a.all)}; }
inline Lanes fused(Lanes a, Lanes b, Lanes c) { return {_mm512_fmadd_ps(a.all, b.all, c.all)}; }
// b where either is not a number.
inline Lanes larger(Lanes a, Lanes b) { return {_mm512_max_ps(a.all, b.all)}; }
inline Lanes smaller(Lanes a, Lanes b) { return {_mm512_min_ps(a.all, b.all)}; }
// 2^n for the integer n in the low bits of x.
inline Lanes power_of_two(Lanes x) {
  const __m512i n = _mm512_add_epi32(_mm512_castps_si512(x.all), _mm512_set1_epi32(127));
  return {_mm512_castsi512_ps(_mm512_slli_epi32(n, 23))};
}

// The first `count` lanes of x, then those of `rest`; count at most 16.
inline Lanes first_of(std::size_t count, Lanes x, Lanes rest) {
  if (count == kLanes) return x;
  const auto mask = static_cast<__mmask16>((1u << count) - 1u);
  return {_mm512_mask_blend_ps(mask, rest.all, x.all)};
}
// The first `count` floats of an array, then zeros; touches nothing behind them.
inline Lanes load_first(std::size_t count, const float* from) {
  if (count == kLanes) return load(from);
  return {_mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << count) - 1u), from)};
}
inline void store_first(std::size_t count, float* to, Lanes x) {
  if (count == kLanes) return store(to, x);
  _mm512_mask_storeu_ps(to, static_cast<__mmask16>((1u << count) - 1u), x.all);
}

inline __m256 lower_half(Lanes x) { return _mm512_castps512_ps256(x.all); }
inline __m256 upper_half(Lanes x) {
  return _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(x.all), 1));
}

#else

struct Lanes {
  __m256 low, high;
};

inline Lanes load(const float* from) { return {_mm256_loadu_ps(from), _mm256_loadu_ps(from + 8)}; }
inline void store(float* to, Lanes x) {
  _mm256_storeu_ps(to, x.low);
  _mm256_storeu_ps(to + 8, x.high);
}
inline Lanes all_of(float x) { return {_mm256_set1_ps(x), _mm256_set1_ps(x)}; }
inline Lanes operator+(Lanes a, Lanes b) {
  return {_mm256_add_ps(a.low, b.low), _mm256_add_ps(a.high, b.high)};
}
inline Lanes operator-(Lanes a, Lanes b) {
  return {_mm256_sub_ps(a.low, b.low), _mm256_sub_ps(a.high, b.high)};
}
inline Lanes operator*(Lanes a, Lanes b) {
  return {_mm256_mul_ps(a.low, b.low), _mm256_mul_ps(a.high, b.high)};
}
inline Lanes operator/(Lanes a, Lanes b) {
  return {_mm256_div_ps(a.low, b.low), _mm256_div_ps(a.high, b.high)};
}
inline Lanes square_root(Lanes a) { return {_mm256_sqrt_ps(a.low), _mm256_sqrt_ps(a.high)}; }
inline Lanes fused(Lanes a, Lanes b, Lanes c) {
  return {_mm256_fmadd_ps(a.low, b.low, c.low), _mm256_fmadd_ps(a.high, b.high, c.high)};
}
// b where either is not a number.
inline Lanes larger(Lanes a, Lanes b) {
  return {_mm256_max_ps(a.low, b.low), _mm256_max_ps(a.high, b.high)};
}
inline Lanes smaller(Lanes a, Lanes b) {
  return {_mm256_min_ps(a.low, b.low), _mm256_min_ps(a.high, b.high)};
}
inline __m256 power_of_two(__m256 x) {
  const __m256i n = _mm256_add_epi32(_mm256_castps_si256(x), _mm256_set1_epi32(127));
  return _mm256_castsi256_ps(_mm256_slli_epi32(n, 23));
}
// 2^n for the integer n in the low bits of x.
inline Lanes power_of_two(Lanes x) { return {power_of_two(x.low), power_of_two(x.high)}; }

// All bits set in lanes first + i < count.
inline __m256i lanes_below(std::size_t count, int first) {
  const __m256i index = _mm256_setr_epi32(first, first + 1, first + 2, first + 3, first + 4,
                                          first + 5, first + 6, first + 7);
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)), index);
}
// The first `count` lanes of x, then those of `rest`; count at most 16.
inline Lanes first_of(std::size_t count, Lanes x, Lanes rest) {
  if (count == kLanes) return x;
  return {_mm256_blendv_ps(rest.low, x.low, _mm256_castsi256_ps(lanes_below(count, 0))),
          _mm256_blendv_ps(rest.high, x.high, _mm256_castsi256_ps(lanes_below(count, 8)))};
}
// The first `count` floats of an array, then zeros; touches nothing behind them.
inline Lanes load_first(std::size_t count, const float* from) {
  if (count == kLanes) return load(from);
  return {_mm256_maskload_ps(from, lanes_below(count, 0)),
          _mm256_maskload_ps(from + 8, lanes_below(count, 8))};
}
inline void store_first(std::size_t count, float* to, Lanes x) {
  if (count == kLanes) return store(to, x);
  _mm256_maskstore_ps(to, lanes_below(count, 0), x.low);
  _mm256_maskstore_ps(to + 8, lanes_below(count, 8), x.high);
}

inline __m256 lower_half(Lanes x) { return x.low; }
inline __m256 upper_half(Lanes x) { return x.high; }

#endif

// Lane i plus lane i + 8, then i + 4, i + 2, i + 1.
inline float sum(Lanes x) {
  const __m256 eight = _mm256_add_ps(lower_half(x), upper_half(x));
  __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  four = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(four, _mm_movehdup_ps(four)));
}

inline float highest(Lanes x) {
  const __m256 eight = _mm256_max_ps(lower_half(x), upper_half(x));
  __m128 four = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  four = _mm_max_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_max_ss(four, _mm_movehdup_ps(four)));
}

// apply(i, count) for each group of up to 16 floats of an array: full ones, then what is left.
template <typename Apply>
inline void for_each_group(std::size_t floats, const Apply& apply) {
  std::size_t i = 0;
  for (; i + kLanes <= floats; i += kLanes) apply(i, kLanes);
  if (i < floats) apply(i, floats - i);
}

}  // namespace optim

// optim/fast_exp.h: exp in float, for loops that the compiler turns into vectors.
//
// The C library chooses its expf by processor, and a vectorised loop would call another function
// for its tail; this one gives one answer for one argument, everywhere.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace optim {

// e^x for x in [-87, 88], and the value at the nearer end outside; NaN for NaN.
//
//   n = nearest integer to x / ln 2 ;  r = x - n ln 2, in two parts ;  |r| <= 0.347
//   e^x = 2^n * (1 + r + r^2/2! + ... + r^7/7!)
//
// Error: the first term left out is 0.347^8 / 8! = 5e-9; with roundings at most 1.2e-7 relative.
inline float fast_exp(float x) {
  constexpr float kInverseLog2 = 1.44269504f;
  constexpr float kLog2High = 0.693145752f;     // 15 bits, so that n times it is exact
  constexpr float kLog2Low = 1.42860677e-6f;    // ln 2 - kLog2High
  constexpr float kRounder = 12582912.0f;       // 1.5 * 2^23: adding it rounds to an integer
  x = x < -87.0f ? -87.0f : x;
  x = x > 88.0f ? 88.0f : x;
  const float shifted = std::fma(x, kInverseLog2, kRounder);
  const float n = shifted - kRounder;
  const float r = std::fma(n, -kLog2Low, std::fma(n, -kLog2High, x));
  float sum = 1.0f / 5040.0f;
  sum = std::fma(sum, r, 1.0f / 720.0f);
  sum = std::fma(sum, r, 1.0f / 120.0f);
  sum = std::fma(sum, r, 1.0f / 24.0f);
  sum = std::fma(sum, r, 1.0f / 6.0f);
  sum = std::fma(sum, r, 0.5f);
  sum = std::fma(sum, r, 1.0f);
  sum = std::fma(sum, r, 1.0f);
  // The low bits of `shifted` are n; moved into the exponent field they make 2^n.
  const std::uint32_t exponent = (std::bit_cast<std::uint32_t>(shifted) + 127u) << 23;
  return sum * std::bit_cast<float>(exponent);
}

}  // namespace optim

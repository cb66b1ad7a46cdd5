// optim/wire_format.cpp: see wire_format.h.
#include "optim/wire_format.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace optim {
namespace {

float to_bf16(float value) {
  if (!std::isfinite(value)) return value;
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounding = 0x7fffu + ((bits >> 16) & 1u);
  return std::bit_cast<float>((bits + rounding) & 0xffff0000u);
}

double largest_finite(std::span<const float> values) {
  float largest = 0;
  for (const float value : values) {
    if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
  }
  return double{largest};
}

void to_grid(std::span<float> values, double levels) {
  const double scale = largest_finite(values);
  if (scale == 0) return;
  for (float& value : values) {
    if (!std::isfinite(value)) continue;
    const double level = std::nearbyint(double{value} * levels / scale) + 0.0;  // -0 becomes 0
    value = static_cast<float>(level * scale / levels);
  }
}

// In double, so that neither a halving nor a comparison rounds.
double nearest_power(double magnitude, double scale) {
  constexpr int kMagnitudes = 7;  // eight codes less the one for zero
  double level = scale;
  for (int k = 0; k < kMagnitudes; ++k, level *= 0.5) {
    if (magnitude >= 0.75 * level) return level;
  }
  return magnitude >= level ? 2.0 * level : 0.0;  // half the smallest is the way to zero
}

void to_powers(std::span<float> values) {
  const double scale = largest_finite(values);
  for (float& value : values) {
    if (!std::isfinite(value)) continue;
    const auto sent = static_cast<float>(nearest_power(double{std::fabs(value)}, scale));
    value = std::copysign(sent, value);
  }
}

}  // namespace

int bits_per_value(WireFormat format) {
  switch (format) {
    case WireFormat::kFp32:
      return 32;
    case WireFormat::kBf16:
      return 16;
    case WireFormat::kInt8:
      return 8;
    case WireFormat::kInt4:
    case WireFormat::kE3m0:
      break;
  }
  return 4;
}

void send_through(WireFormat format, std::span<float> values) {
  switch (format) {
    case WireFormat::kFp32:
      return;
    case WireFormat::kBf16:
      for (float& value : values) value = to_bf16(value);
      return;
    case WireFormat::kInt8:
      return to_grid(values, 127);
    case WireFormat::kInt4:
      return to_grid(values, 7);
    case WireFormat::kE3m0:
      return to_powers(values);
  }
}

}  // namespace optim

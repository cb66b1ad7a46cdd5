// optim/wire_format.cpp: see wire_format.h.
#include "optim/wire_format.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>

namespace optim {
namespace {

float to_bf16(float value) {
  if (!std::isfinite(value)) return value;
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounding = 0x7fffu + ((bits >> 16) & 1u);
  return std::bit_cast<float>((bits + rounding) & 0xffff0000u);
}

float largest_magnitude(std::span<const float> values) {
  float largest = 0;
  for (const float value : values) largest = std::max(largest, std::fabs(value));
  return largest;
}

void to_levels(std::span<float> values, float levels) {
  const float largest = largest_magnitude(values);
  if (!(largest > 0) || !std::isfinite(largest)) return;
  const double step = double{largest} / double{levels};
  for (float& value : values) {
    value = static_cast<float>(std::nearbyint(double{value} / step) * step);
  }
}

// The code of all-zero exponent bits is zero, which leaves seven powers: largest power not above
// the scale, and six halvings. Rounded to the nearest of them on the linear scale.
void to_powers(std::span<float> values) {
  const float largest = largest_magnitude(values);
  if (!(largest > 0) || !std::isfinite(largest)) return;
  constexpr int kHalvings = 6;
  const int top = std::ilogb(largest) + (std::scalbn(1.5f, std::ilogb(largest)) < largest ? 1 : 0);
  for (float& value : values) {
    const float magnitude = std::fabs(value);
    if (magnitude < std::scalbn(0.5f, top - kHalvings)) {
      value = std::copysign(0.0f, value);
      continue;
    }
    const int below = std::ilogb(magnitude);
    const int nearest = below + (magnitude >= std::scalbn(1.5f, below) ? 1 : 0);
    value = std::copysign(std::scalbn(1.0f, std::clamp(nearest, top - kHalvings, top)), value);
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
      return to_levels(values, 127);
    case WireFormat::kInt4:
      return to_levels(values, 7);
    case WireFormat::kE3m0:
      return to_powers(values);
  }
}

}  // namespace optim

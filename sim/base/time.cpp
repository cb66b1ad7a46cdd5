// sim/base/time.cpp: see time.h for the contract.
#include "sim/base/time.h"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

namespace sim::base {

Nanoseconds from_seconds(double seconds) {
  if (std::isnan(seconds)) throw std::invalid_argument("a duration in seconds must not be NaN");
  if (!(seconds > 0.0)) return 0;
  if (seconds >= to_seconds(kNever)) return kNever;
  // Whole seconds apart: their product with 10^9 may not fit the 53 bits of a double.
  const double whole = std::trunc(seconds);
  const double rest = seconds - whole;  // exact
  return static_cast<Nanoseconds>(whole) * kSecond + std::llround(rest * 1e9);
}

double to_seconds(Nanoseconds duration) { return static_cast<double>(duration) / 1e9; }

std::string format_seconds(Nanoseconds duration) {
  // Magnitude in unsigned arithmetic: the most negative date has no positive twin.
  const auto bits = static_cast<std::uint64_t>(duration);
  const std::uint64_t magnitude = duration < 0 ? 0 - bits : bits;
  const auto second = static_cast<std::uint64_t>(kSecond);
  return fmt::format("{}{}.{:09}", duration < 0 ? "-" : "", magnitude / second, magnitude % second);
}

}  // namespace sim::base

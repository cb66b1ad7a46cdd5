// sim/base/time.cpp: see time.h for the contract.
#include "sim/base/time.h"

#include <fmt/format.h>

#include <algorithm>
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

std::optional<Nanoseconds> parse_seconds(std::string_view text) {
  const std::size_t point = std::min(text.find('.'), text.size());
  const std::string_view whole = text.substr(0, point);
  std::string decimals(text.substr(std::min(point + 1, text.size())));
  const bool digits = std::ranges::all_of(std::string(whole) + decimals,
                                          [](char c) { return c >= '0' && c <= '9'; });
  constexpr std::size_t kLongest = 10;  // kNever has as many
  if (!digits || whole.empty() || whole.size() > kLongest || decimals.size() > 9) return {};
  if (point < text.size() && decimals.empty()) return {};
  decimals.resize(9, '0');
  const Nanoseconds date = std::stoll(std::string(whole)) * kSecond + std::stoll(decimals);
  return date < kNever ? std::optional(date) : std::nullopt;
}

}  // namespace sim::base

// sim/base/time.h: simulated dates and durations as integer nanoseconds.
//
// A date is counted from the start of the run. Every date that is ordered or compared is one of
// these integers, never a double: a sum of a million steps is then exact (design section 7).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sim::base {

using Nanoseconds = std::int64_t;

constexpr Nanoseconds kMicrosecond = 1'000;
constexpr Nanoseconds kMillisecond = 1'000'000;
constexpr Nanoseconds kSecond = 1'000'000'000;
constexpr Nanoseconds kMinute = 60 * kSecond;
constexpr Nanoseconds kHour = 60 * kMinute;
constexpr Nanoseconds kDay = 24 * kHour;

// A date that no run reaches (runs above 90 days are refused).
constexpr Nanoseconds kNever = INT64_MAX / 4;

// Nearest nanosecond to `seconds`, halves away from zero; at least 0 and at most kNever.
//
// Requires: `seconds` is not NaN; else std::invalid_argument.
Nanoseconds from_seconds(double seconds);

// Nearest double. from_seconds gives the same nanosecond back below 2^23 s (97 days); above that
// doubles lie further apart than nanoseconds.
double to_seconds(Nanoseconds duration);

// Seconds with nine decimals, exact: 1500000000 -> "1.500000000", -1 -> "-0.000000001".
std::string format_seconds(Nanoseconds duration);

// The reverse, exactly: digits, and after a point at most nine more. Nothing for any other text, and for
// what is not below kNever.
std::optional<Nanoseconds> parse_seconds(std::string_view text);

}  // namespace sim::base

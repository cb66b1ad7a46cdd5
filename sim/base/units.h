// sim/base/units.h: text with a unit, such as "6 h" or "5 Gbps", to a number and back.
//
// Bits exist in scenario text and in reports only; inside, data are bytes and rates bytes per
// second. Each dimension has one table of units, and whatever is printed can be read back exactly.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/time.h"

namespace sim::base {

// The base unit in which numbers of a dimension are held: seconds, bytes, bytes per second, FLOP
// per second, watts, joules, US dollars (and per gigabyte, per hour, per kWh).
enum class Dimension : std::uint8_t {
  kTime, kData, kRate, kCompute, kPower, kEnergy, kMoney, kMoneyPerData, kMoneyPerTime,
  kMoneyPerEnergy,
};

// value_in_base_unit = number * multiplier / divisor; both are exact doubles, so that a decimal
// text is rounded once ("36 ms" is the double nearest to 0.036).
struct Unit {
  std::string_view name;
  double multiplier;
  double divisor;
};

const std::vector<Unit>& units_of(Dimension dimension);
std::string_view dimension_name(Dimension dimension);  // "time", "rate" ...
std::string_view example_text(Dimension dimension);    // a value of it: "6 h", "5 Gbps" ...

// What came of reading a text: `error` is empty, or says what is wrong ("unknown unit 'm' in
// \"6 m\""); `hint` is empty or one thing to do.
struct QuantityResult {
  double value = 0;  // base unit
  std::string error;
  std::string hint;
  bool lacks_unit = false;  // the error is that and nothing else
};

// Reads a number, optional spaces and a unit; the whole text must be read. nan, inf and a bare
// number are errors. The sign is kept: ranges are the caller's.
QuantityResult parse_quantity(std::string_view text, Dimension dimension);

// The shortest text that parse_quantity reads back as exactly `value`; larger units on ties.
std::string format_quantity(double value, Dimension dimension);

// Exact integer nanoseconds in the largest unit that divides them: "6 h", "36 ms", "1500 us".
std::string format_duration(Nanoseconds duration);

// What format_duration wrote, exactly whatever its length; nothing for any other text.
std::optional<Nanoseconds> parse_duration(std::string_view text);

}  // namespace sim::base

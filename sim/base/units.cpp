// sim/base/units.cpp: the tables of units, and reading and writing values with them.
#include "sim/base/units.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <stdexcept>

namespace sim::base {

namespace {

struct DimensionTable {
  std::string_view name;
  std::string_view example;
  std::vector<Unit> units;  // largest first
};

constexpr double kYearSeconds = 365.25 * 86400;

const DimensionTable& table_of(Dimension dimension) {
  static const std::array<DimensionTable, 10> tables = {{
      {"time", "6 h",
       {{"y", kYearSeconds, 1}, {"d", 86400, 1}, {"h", 3600, 1}, {"min", 60, 1}, {"s", 1, 1},
        {"ms", 1, 1e3}, {"us", 1, 1e6}, {"ns", 1, 1e9}}},
      {"data", "16 GB",
       {{"TB", 1e12, 1}, {"GiB", 1073741824, 1}, {"GB", 1e9, 1}, {"MiB", 1048576, 1},
        {"MB", 1e6, 1}, {"KiB", 1024, 1}, {"kB", 1e3, 1}, {"B", 1, 1}}},
      {"rate", "5 Gbps",
       {{"Tbps", 1e12, 8}, {"Gbps", 1e9, 8}, {"Mbps", 1e6, 8}, {"kbps", 1e3, 8}, {"bps", 1, 8},
        {"Tbit/s", 1e12, 8}, {"Gbit/s", 1e9, 8}, {"Mbit/s", 1e6, 8}, {"kbit/s", 1e3, 8},
        {"bit/s", 1, 8}, {"GB/s", 1e9, 1}, {"MB/s", 1e6, 1}, {"kB/s", 1e3, 1}, {"B/s", 1, 1}}},
      {"compute", "918 TFLOP/s",
       {{"PFLOP/s", 1e15, 1}, {"TFLOP/s", 1e12, 1}, {"GFLOP/s", 1e9, 1}, {"FLOP/s", 1, 1}}},
      {"power", "700 W", {{"MW", 1e6, 1}, {"kW", 1e3, 1}, {"W", 1, 1}}},
      {"energy", "5 kWh", {{"kWh", 3.6e6, 1}, {"MJ", 1e6, 1}, {"kJ", 1e3, 1}, {"J", 1, 1}}},
      {"money", "100 USD", {{"USD", 1, 1}}},
      {"money per data", "0.02 USD/GB", {{"USD/GB", 1, 1}}},
      {"money per time", "2 USD/h", {{"USD/h", 1, 1}}},
      {"money per energy", "0.1 USD/kWh", {{"USD/kWh", 1, 1}}},
  }};
  return tables.at(static_cast<std::size_t>(dimension));
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::string unit_names(Dimension dimension) {
  std::string names;
  for (const Unit& unit : table_of(dimension).units) {
    names += names.empty() ? "" : " ";
    names += unit.name;
  }
  return names;
}

// The unit that somebody probably meant, where a guess by spelling would mislead.
std::string unit_hint(std::string_view unit, Dimension dimension) {
  if (dimension == Dimension::kTime && unit == "m") return "minutes are 'min', milliseconds 'ms'";
  if (dimension == Dimension::kRate && (unit == "Gb" || unit == "Mb" || unit == "GB" || unit == "MB")) {
    return "bits are 'Gbps' or 'Gbit/s', bytes 'GB/s'";
  }
  if (dimension == Dimension::kRate && (unit == "GBps" || unit == "MBps")) {
    return "bytes are 'GB/s', bits 'Gbps' or 'Gbit/s'";
  }
  return fmt::format("units of {} are {}", dimension_name(dimension), unit_names(dimension));
}

}  // namespace

const std::vector<Unit>& units_of(Dimension dimension) { return table_of(dimension).units; }
std::string_view dimension_name(Dimension dimension) { return table_of(dimension).name; }
std::string_view example_text(Dimension dimension) { return table_of(dimension).example; }

QuantityResult parse_quantity(std::string_view text, Dimension dimension) {
  QuantityResult result;
  const std::string_view body = trim(text);
  double number = 0;
  const char* const end = body.data() + body.size();
  const auto [rest, code] = std::from_chars(body.data(), end, number);
  if (code != std::errc{} || !std::isfinite(number)) {
    result.error = fmt::format("must be a finite number with a unit; got \"{}\"", text);
    result.hint = fmt::format("write it like \"{}\"", example_text(dimension));
    return result;
  }
  const std::string_view unit = trim(std::string_view(rest, static_cast<std::size_t>(end - rest)));
  if (unit.empty()) {
    result.lacks_unit = true;
    result.error = fmt::format("needs a unit; got \"{}\"", text);
    result.hint = fmt::format("write it like \"{}\"", example_text(dimension));
    return result;
  }
  for (const Unit& known : units_of(dimension)) {
    if (known.name == unit) {
      result.value = number * known.multiplier / known.divisor;
      return result;
    }
  }
  result.error = fmt::format("unknown unit '{}' in \"{}\"", unit, text);
  result.hint = unit_hint(unit, dimension);
  return result;
}

std::string format_quantity(double value, Dimension dimension) {
  std::string best;
  for (const Unit& unit : units_of(dimension)) {
    if (value == 0 && unit.multiplier != unit.divisor) continue;  // "0 s", not "0 y"
    std::string text = fmt::format("{} {}", value * unit.divisor / unit.multiplier, unit.name);
    const QuantityResult read_back = parse_quantity(text, dimension);
    const bool exact = read_back.error.empty() && read_back.value == value;
    if (exact && (best.empty() || text.size() < best.size())) best = std::move(text);
  }
  if (best.empty()) {
    throw std::logic_error(fmt::format("units: {} has no exact text", value));
  }
  return best;
}

namespace {

struct Step {
  Nanoseconds size;
  std::string_view name;
};
constexpr std::array<Step, 7> kSteps = {{{kDay, "d"}, {kHour, "h"}, {kMinute, "min"}, {kSecond, "s"},
                                         {kMillisecond, "ms"}, {kMicrosecond, "us"}, {1, "ns"}}};

}  // namespace

std::string format_duration(Nanoseconds duration) {
  if (duration == 0) return "0 s";
  for (const Step& step : kSteps) {
    if (duration % step.size == 0) return fmt::format("{} {}", duration / step.size, step.name);
  }
  throw std::logic_error("units: a duration is a whole number of nanoseconds");
}

std::optional<Nanoseconds> parse_duration(std::string_view text) {
  Nanoseconds count = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, code] = std::from_chars(text.data(), end, count);
  if (code != std::errc{} || rest == end || *rest != ' ') return {};
  const std::string_view unit(rest + 1, static_cast<std::size_t>(end - rest - 1));
  for (const Step& step : kSteps) {
    if (step.name != unit) continue;
    if (count < -kNever / step.size || count > kNever / step.size) return {};
    return count * step.size;
  }
  return {};
}

}  // namespace sim::base

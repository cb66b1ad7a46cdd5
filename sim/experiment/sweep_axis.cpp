// sim/experiment/sweep_axis.cpp: see sweep_axis.h.
#include "sim/experiment/sweep_axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "sim/base/elementary.h"
#include "sim/base/random.h"
#include "sim/base/units.h"

namespace sim::experiment {
namespace {

using base::Dimension;
using base::Problems;
using base::Value;
using scenario::AxisOptions;
using scenario::AxisSpacing;

// An end of a range: its number and what comes after it ("d", or nothing).
struct End {
  double number;
  std::string unit;
};

std::optional<End> read_end(const Value& value, Problems& problems) {
  if (value.kind == Value::Kind::kInteger) return End{static_cast<double>(value.integer), ""};
  if (value.kind == Value::Kind::kReal && std::isfinite(value.real)) return End{value.real, ""};
  const std::string& text = value.text;
  double number = 0;
  const char* const last = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), last, number);
  if (value.kind != Value::Kind::kText || error != std::errc() || !std::isfinite(number)) {
    problems.add(value.place, "must be a number, or text with a unit; got " + base::to_toml(value));
    return std::nullopt;
  }
  std::string_view unit(rest, static_cast<std::size_t>(last - rest));
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  return End{number, std::string(unit)};
}

struct Range {
  End from, to;
  AxisSpacing spacing;
  bool whole;

  // At a share of the way, in [0, 1].
  double at(double share) const {
    if (share <= 0) return whole ? std::round(from.number) : from.number;
    if (share >= 1) return whole ? std::round(to.number) : to.number;
    const double exact = spacing == AxisSpacing::kLinear
                             ? from.number + (to.number - from.number) * share
                             : from.number * base::power(to.number / from.number, share);
    if (whole) return std::round(exact);
    double rounded = 0;
    const std::string text = fmt::format("{:.6g}", exact);
    std::from_chars(text.data(), text.data() + text.size(), rounded);
    return rounded;
  }

  Value value_at(double share) const {
    const double number = at(share);
    if (!from.unit.empty()) return Value::of(fmt::format("{} {}", number, from.unit));
    constexpr double kExact = 9007199254740992.0;  // 2^53
    if (number == std::round(number) && std::abs(number) < kExact) {
      return Value::of(static_cast<std::int64_t>(number));
    }
    return Value::of(number);
  }
};

std::optional<Range> read_range(const AxisOptions& options, Problems& problems) {
  const auto from = read_end(options.from, problems), to = read_end(options.to, problems);
  if (!from || !to) return std::nullopt;
  if (from->unit != to->unit) {
    problems.add(options.to.place, fmt::format("must have the unit of from ({}); got {}",
                                               base::to_toml(options.from), base::to_toml(options.to)));
    return std::nullopt;
  }
  if (options.spacing == AxisSpacing::kLog && !(from->number > 0 && to->number > 0)) {
    problems.add(options.from.place,
                 fmt::format("must be above 0 with spacing = \"log\", like to; got {} and {}",
                             base::to_toml(options.from), base::to_toml(options.to)));
    return std::nullopt;
  }
  return Range{*from, *to, options.spacing, options.whole};
}

constexpr std::pair<Dimension, const char*> kUnits[] = {
    {Dimension::kTime, "_s"},           {Dimension::kData, "_bytes"},
    {Dimension::kRate, "_gbps"},        {Dimension::kCompute, "_flop_per_s"},
    {Dimension::kPower, "_w"},          {Dimension::kEnergy, "_kwh"},
    {Dimension::kMoney, "_usd"},        {Dimension::kMoneyPerData, "_usd_per_gb"},
    {Dimension::kMoneyPerTime, "_usd_per_h"}, {Dimension::kMoneyPerEnergy, "_usd_per_kwh"},
};

// In the unit of the column's name.
double shown(double base_value, Dimension dimension) {
  if (dimension == Dimension::kRate) return base_value * 8 / 1e9;
  if (dimension == Dimension::kEnergy) return base_value / 3.6e6;
  return base_value;
}

// The numbers of all values in one dimension, or nothing.
std::optional<std::vector<std::string>> cells_in(const std::vector<Value>& values,
                                                 Dimension dimension) {
  std::vector<std::string> cells;
  for (const Value& value : values) {
    if (value.kind != Value::Kind::kText) return std::nullopt;
    const base::QuantityResult read = base::parse_quantity(value.text, dimension);
    if (!read.error.empty()) return std::nullopt;
    cells.push_back(fmt::format("{}", shown(read.value, dimension)));
  }
  return cells;
}

void fill_cells(Axis& axis) {
  axis.column = axis.key;
  if (axis.values.empty()) return;
  for (const auto& [dimension, suffix] : kUnits) {
    if (auto cells = cells_in(axis.values, dimension)) {
      axis.column += suffix;
      axis.cells = std::move(*cells);
      return;
    }
  }
  for (const Value& value : axis.values) {
    axis.cells.push_back(value.kind == Value::Kind::kText ? value.text : base::to_toml(value));
  }
}

void refuse_equal_values(Axis& axis, const AxisOptions& options, Problems& problems) {
  std::vector<std::string> sorted;
  for (const Value& value : axis.values) sorted.push_back(base::to_toml(value));
  std::ranges::sort(sorted);
  const auto twice = std::ranges::adjacent_find(sorted);
  if (twice == sorted.end()) return;
  const base::Place& place = options.values.empty() ? options.place : options.values[0].place;
  problems.add(place, fmt::format("must not hold a value twice; got {} twice", *twice),
               options.values.empty() ? "lower count" : "leave one out");
  axis.values.clear();
}

}  // namespace

Axis make_axis(const AxisOptions& options, Repeats repeats, Problems& problems) {
  Axis axis{options.key, options.values, "", {}};
  if (options.values.empty()) {
    const auto range = read_range(options, problems);
    for (std::int64_t i = 0; range && i < options.count; ++i) {
      axis.values.push_back(
          range->value_at(static_cast<double>(i) / static_cast<double>(options.count - 1)));
    }
  }
  if (repeats == Repeats::kRefuse) refuse_equal_values(axis, options, problems);
  fill_cells(axis);
  return axis;
}

Axis sample_axis(const AxisOptions& options, std::int64_t samples, std::uint64_t design_seed,
                 Problems& problems) {
  base::Stream stream(design_seed, "sweep/" + options.key);
  std::vector<std::int64_t> strata;
  for (std::int64_t i = 0; i < samples; ++i) strata.push_back(i);
  for (std::size_t i = strata.size(); i > 1; --i) {
    std::swap(strata[i - 1], strata[static_cast<std::size_t>(stream.next_below(i))]);
  }
  Axis axis{options.key, {}, "", {}};
  const auto range = options.values.empty() ? read_range(options, problems) : std::nullopt;
  for (const std::int64_t stratum : strata) {
    if (!options.values.empty()) {
      axis.values.push_back(options.values[static_cast<std::size_t>(stratum) % options.values.size()]);
    } else if (range) {
      const double share = (static_cast<double>(stratum) + stream.next_uniform()) /
                           static_cast<double>(samples);
      axis.values.push_back(range->value_at(share));
    }
  }
  fill_cells(axis);
  return axis;
}

std::string as_set(const std::string& key, const Value& value) {
  return key + "=" + base::to_toml(value);
}

}  // namespace sim::experiment

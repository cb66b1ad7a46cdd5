// sim/experiment/gate_point.cpp: see gate_point.h.
#include "sim/experiment/gate_point.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sim/base/units.h"

namespace sim::experiment {
namespace {

using base::Dimension;
using base::Value;

std::string plain(const Value& value) {
  if (value.kind == Value::Kind::kReal) return fmt::format("{:.12g}", value.real);
  constexpr std::int64_t kExact = 100'000'000'000;  // twelve digits hold it: 8 and 8.0 are the same
  if (value.kind == Value::Kind::kInteger && std::abs(value.integer) < kExact) {
    return fmt::format("{:.12g}", static_cast<double>(value.integer));
  }
  if (value.kind != Value::Kind::kText) return base::to_toml(value);
  for (const Dimension dimension :
       {Dimension::kTime, Dimension::kData, Dimension::kRate, Dimension::kCompute, Dimension::kPower, Dimension::kEnergy,
        Dimension::kMoney, Dimension::kMoneyPerData, Dimension::kMoneyPerTime, Dimension::kMoneyPerEnergy}) {
    const base::QuantityResult read = base::parse_quantity(value.text, dimension);
    if (read.error.empty()) return fmt::format("{:.12g} {}", read.value, base::dimension_name(dimension));
  }
  return base::to_toml(value);
}

}  // namespace

std::vector<std::string> values_at(const SweepPlan& plan, std::uint64_t point) {
  const std::vector<std::size_t> choices = plan.choices_at(point);
  std::vector<std::string> values;
  for (std::size_t i = 0; i < plan.axes.size(); ++i) {
    values.push_back(plan.axes[i].key + " = " + plain(plan.axes[i].values[choices[i]]));
  }
  std::ranges::sort(values);
  return values;
}

std::optional<std::string> point_held_twice(const SweepPlan& plan) {
  std::set<std::vector<std::string>> seen;
  for (std::uint64_t point = 0; point < plan.point_count(); ++point) {
    if (!seen.insert(values_at(plan, point)).second) return plan.name_of(point);
  }
  return std::nullopt;
}

}  // namespace sim::experiment

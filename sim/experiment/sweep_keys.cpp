// sim/experiment/sweep_keys.cpp: see sweep_keys.h.
#include "sim/experiment/sweep_keys.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/experiment/sweep_overrides.h"
#include "sim/scenario/parse.h"

namespace sim::experiment {
namespace {

using base::Place;
using base::Problems;
using base::Value;
using scenario::AxisOptions;
using scenario::SweepCombine;

constexpr double kRunsUnasked = 10e6;
constexpr double kValuesUnasked = 1e6;  // assumed: seconds, and a gigabyte
constexpr double kPointsMax = 1e15;     // a point's number is exact in every table

void check_sets_under(const SweepPlan& plan, const Value& base, const AxisOptions& axis, const KeyPath& path,
                      const Value* sweep, Problems& problems) {
  for (std::size_t i = 0; i < plan.sets.size(); ++i) {
    const auto key = path_of_set(base, plan.sets[i]);
    if (!key || !lies_over(path, *key)) continue;
    const bool in_file = i < plan.options.set.size();
    problems.add(in_file ? sweep->find("set")->items[i].place : Place{"--set " + plan.sets[i], {}, ""},
                 fmt::format("is replaced at every point by the axis on {}", axis.key), "leave out one of the two");
  }
}

std::size_t length_of(const AxisOptions& axis, const scenario::SweepOptions& options) {
  if (options.combine == SweepCombine::kLatinHypercube) return static_cast<std::size_t>(options.samples);
  return axis.values.empty() ? static_cast<std::size_t>(axis.count) : axis.values.size();
}

}  // namespace

void check_keys(const SweepPlan& plan, const Value* sweep, Problems& problems) {
  const Value base = scenario::parse_toml(plan.text, plan.file, problems);
  std::vector<KeyPath> paths;
  for (const AxisOptions& axis : plan.options.axes) {
    const auto path = path_of_key(base, axis.key);
    if (!path) continue;  // told when it is laid on the scenario
    if (std::ranges::count(paths, *path) > 0) {
      problems.add(axis.place, fmt::format("varies {} a second time", axis.key), "one axis for each key");
    }
    paths.push_back(*path);
    if (axis.key == "seed") {
      problems.add(axis.place, "seed is no axis: all points have the same seeds", "write seeds = \"1..10\" in [sweep]");
    }
    const auto arm = arm_that_sets(plan, base, axis.key);
    if (arm && plan.options.arm_overrides == scenario::ArmOverrides::kRefuse) {
      problems.add(axis.place, fmt::format("{} is set by arm '{}' itself", axis.key, *arm),
                   "leave the arm out with arms = [...], or write arm_overrides = \"replace\"");
    }
    check_sets_under(plan, base, axis, *path, sweep, problems);
  }
}

void check_size(const SweepPlan& plan, SizeAllowed allowed, const Place& place, Problems& problems) {
  const scenario::SweepOptions& options = plan.options;
  double points = 1, values = 0;
  for (const AxisOptions& axis : options.axes) {
    const auto length = static_cast<double>(length_of(axis, options));
    points = options.combine == SweepCombine::kGrid ? points * length : length;
    values += length;
  }
  if (points > kPointsMax) {
    problems.add(options.axes[0].place, fmt::format("the grid has {:.1e} points", points),
                 "shorten the axes, or combine = \"latin-hypercube\"");
    return;
  }
  const double runs = points * static_cast<double>(plan.arms.size()) * static_cast<double>(plan.seeds_first());
  const bool many_values = values > kValuesUnasked;
  const bool allowed_here = allowed == SizeAllowed::kAny || (allowed == SizeAllowed::kForecast && !many_values);
  if (allowed_here || runs <= kRunsUnasked) return;
  problems.add(place, fmt::format("has {:.0f} runs, more than 10 million", runs),
               many_values ? "shorten the axes; --yes does it all the same"
                           : "--dry-run says what that costs, --yes does it");
}

}  // namespace sim::experiment

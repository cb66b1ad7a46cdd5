// sim/experiment/recorded_sweep.cpp: see recorded_sweep.h.
#include "sim/experiment/recorded_sweep.h"

#include <algorithm>

#include "sim/experiment/sweep_load.h"
#include "sim/scenario/parse.h"
#include "sim/scenario/scenario_schema.h"
#include "sim/scenario/sweep_schema.h"

namespace sim::experiment {
namespace {

bool is_our_form(const base::Value& root) {
  const base::Value* const format = root.find("format");
  base::Problems problems;
  return format != nullptr && base::read_integer(*format, {}, problems) == scenario::kFormat;
}

void add_arms(SweepPlan& plan) {
  for (const std::string& name : plan.options.arms) {
    scenario::Arm arm{};
    arm.training.name = name;
    plan.arms.push_back(plan.base.arms.size());
    plan.base.arms.push_back(arm);
    if (name == plan.options.reference) plan.reference = plan.arms.back();
  }
}

}  // namespace

std::optional<SweepPlan> recorded_sweep(const std::string& text, const std::string& file) {
  base::Problems problems;
  const base::Value root = scenario::parse_toml(text, file, problems);
  const base::Value* const sweep = root.find("sweep");
  if (sweep == nullptr || !is_our_form(root)) return std::nullopt;
  SweepPlan plan{};
  plan.file = file;
  plan.text = text;
  base::bind(scenario::sweep_schema(), *sweep, &plan.options, problems);
  for (const scenario::AxisOptions& axis : plan.options.axes) plan.axes.push_back(make_axis(axis, Repeats::kAllow, problems));
  plan.sets = plan.options.set;
  add_arms(plan);
  auto seeds = parse_seeds(plan.options.seeds);
  if (!problems.list().empty() || plan.arms.empty() || !seeds) return std::nullopt;
  plan.seeds = std::move(*seeds);
  return plan;
}

}  // namespace sim::experiment

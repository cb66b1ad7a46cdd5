// sim/experiment/sweep_plan.cpp: see sweep_plan.h.
#include "sim/experiment/sweep_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/random.h"
#include "sim/experiment/sweep_base.h"
#include "sim/scenario/sweep_schema.h"

namespace sim::experiment {
namespace {

using base::Value;
using scenario::SweepCombine;

Value list_of(std::vector<Value> items) {
  Value list;
  list.kind = Value::Kind::kList;
  list.items = std::move(items);
  return list;
}

// [sweep] with all that was decided when it was loaded.
scenario::SweepOptions decided(const SweepPlan& plan) {
  scenario::SweepOptions options = plan.options;
  // Samples of a hypercube are a list of points once they are drawn.
  if (options.combine == SweepCombine::kLatinHypercube) options.combine = SweepCombine::kZip;
  options.set = plan.sets;
  options.arms.clear();
  for (std::size_t i = 0; i < plan.arms.size(); ++i) options.arms.push_back(plan.arm_name(i));
  options.reference = plan.arm_name(plan.reference);
  options.seeds = fmt::format("{}..{}", plan.seeds.front(), plan.seeds.back());
  return options;
}

std::string section_of(const scenario::SweepOptions& options, const std::vector<Axis>& axes) {
  Value table = base::write(scenario::sweep_schema(), &options);
  table.remove("axis");
  std::string text = "\n[sweep]\n" + lines_of(table);
  for (const Axis& axis : axes) {
    text += fmt::format("\n[[sweep.axis]]\nkey = {}\nvalues = {}\n", base::to_toml(Value::of(axis.key)),
                        base::to_toml(list_of(axis.values)));
  }
  return text;
}

}  // namespace

std::uint64_t SweepPlan::point_count() const {
  if (options.combine != SweepCombine::kGrid) return axes.empty() ? 1 : axes[0].values.size();
  std::uint64_t count = 1;
  for (const Axis& axis : axes) count *= axis.values.size();
  return count;
}

std::uint64_t SweepPlan::seeds_first() const {
  const std::uint64_t given = seeds.size();
  if (options.until_ci == 0) return given;
  return std::max(given, std::min(kSeedsFirst, static_cast<std::uint64_t>(options.seeds_max)));
}

const std::string& SweepPlan::arm_name(std::uint64_t arm) const {
  return base.arms[arms[static_cast<std::size_t>(arm)]].training.name;
}

std::vector<std::size_t> SweepPlan::choices_at(std::uint64_t point) const {
  std::vector<std::size_t> choices(axes.size(), static_cast<std::size_t>(point));
  if (options.combine != SweepCombine::kGrid) return choices;
  for (std::size_t i = axes.size(); i-- > 0;) {
    choices[i] = static_cast<std::size_t>(point % axes[i].values.size());
    point /= axes[i].values.size();
  }
  return choices;
}

std::vector<std::string> SweepPlan::sets_at(std::uint64_t point) const {
  const std::vector<std::size_t> choices = choices_at(point);
  std::vector<std::string> result;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    result.push_back(as_set(axes[i].key, axes[i].values[choices[i]]));
  }
  return result;
}

std::string SweepPlan::name_of(std::uint64_t point) const {
  return fmt::format("{}", fmt::join(sets_at(point), ", "));
}

scenario::LoadResult SweepPlan::load_point(std::uint64_t point) const {
  std::vector<std::string> all = sets;
  for (std::string& set : sets_at(point)) all.push_back(std::move(set));
  return scenario::load_text(text, file, all);
}

std::uint64_t SweepPlan::seed_at(std::uint64_t index) const {
  if (index < seeds.size()) return seeds[static_cast<std::size_t>(index)];
  return seeds.back() + (index - seeds.size() + 1);
}

std::string resolved_text(const SweepPlan& plan) {
  std::string text = base_text(plan) + section_of(decided(plan), plan.axes);
  // A name alone does not say which content it stands for.
  for (const auto& [name, checksum] : plan.files) {
    text += fmt::format("# {} = {}\n", base::to_toml(Value::of(name)), checksum);
  }
  return text;
}

std::string shown_text(const SweepPlan& plan) {
  scenario::SweepOptions options = decided(plan);
  options.set.clear();  // they stand in the base
  options.arm_overrides = scenario::ArmOverrides::kReplace;  // in which every arm sets every key
  return std::string(scenario::identity_in(scenario::resolved_text(plan.base))) + section_of(options, plan.axes);
}

std::string run_identity(const scenario::Scenario& scenario, std::size_t arm, std::uint64_t seed,
                         const std::string& version) {
  scenario::Scenario own = scenario;
  own.seed = seed;
  const std::string text = scenario::resolved_text(own, &own.arms[arm].training.name);
  return fmt::format("{:016x}", base::hash_name(base::hash_name(0, version), scenario::identity_in(text)));
}

}  // namespace sim::experiment

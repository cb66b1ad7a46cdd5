// sim/experiment/sweep_overrides.cpp: see sweep_overrides.h. Looks at the file as written: the resolved
// scenario no longer tells what an arm sets from what it inherits.
#include "sim/experiment/sweep_overrides.h"

#include <algorithm>

#include "sim/scenario/arm_trees.h"
#include "sim/scenario/override.h"

namespace sim::experiment {
namespace {

using base::Value;

std::optional<std::size_t> index_of(const Value& list, const std::string& part) {
  for (std::size_t i = 0; i < list.items.size(); ++i) {
    const Value* const name = list.items[i].find("name");
    const bool named = name != nullptr && name->kind == Value::Kind::kText && name->text == part;
    if (named || std::to_string(i) == part) return i;
  }
  return std::nullopt;
}

// The value at `parts`, whose names of list elements become indices as far as they are found; or null.
const Value* walk(const Value& tree, std::vector<std::string>& parts) {
  const Value* here = &tree;
  for (std::string& part : parts) {
    if (here->kind == Value::Kind::kList) {
      const auto index = index_of(*here, part);
      if (!index) return nullptr;
      part = std::to_string(*index);
      here = &here->items[*index];
    } else {
      here = here->find(part);
    }
    if (here == nullptr) return nullptr;
  }
  return here;
}

bool is_part_of_arm(const std::string& name) {
  scenario::Override change;
  change.path = {name};
  return name != "arm" && scenario::acts_on_arms(change);
}

}  // namespace

std::optional<KeyPath> path_of_key(const Value& root, const std::string& key) {
  return path_of_set(root, key + "=0");
}

std::optional<KeyPath> path_of_set(const Value& root, const std::string& set) {
  base::Problems ignored;
  const auto change = scenario::parse_override(set, ignored);
  if (!change) return std::nullopt;
  KeyPath path{"", change->path};
  if (path.parts[0] == "arm") {
    if (path.parts.size() < 3) return std::nullopt;
    path.arm = path.parts[1];
    path.parts.erase(path.parts.begin(), path.parts.begin() + 2);
    if (!is_part_of_arm(path.parts[0])) path.parts.insert(path.parts.begin(), "training");
  }
  walk(root, path.parts);
  return path;
}

bool lies_over(const KeyPath& axis, const KeyPath& set) {
  if (!axis.arm.empty() && axis.arm != set.arm) return false;
  if (axis.parts.size() > set.parts.size()) return false;
  return std::equal(axis.parts.begin(), axis.parts.end(), set.parts.begin());
}

std::optional<std::string> arm_that_sets(const SweepPlan& plan, const Value& root, const std::string& key) {
  base::Problems ignored;
  const auto change = scenario::parse_override(key + "=0", ignored);
  const Value* const arms = root.find("arm");
  if (!change || change->path[0] == "arm" || arms == nullptr) return std::nullopt;
  for (const Value& arm : arms->items) {
    const Value* const name = arm.find("name");
    if (name == nullptr) continue;
    const auto& wanted = plan.options.arms;
    if (!wanted.empty() && std::ranges::count(wanted, name->text) == 0) continue;
    std::vector<std::string> parts = change->path;  // by name: an arm's list may have another order
    if (walk(arm, parts) != nullptr) return name->text;
  }
  return std::nullopt;
}

std::string for_arm(const std::string& set, const std::string& arm) {
  base::Problems ignored;
  const auto change = scenario::parse_override(set, ignored);
  if (!change || !is_part_of_arm(change->path[0])) return set;
  const char* const quote = arm.find('"') == std::string::npos ? "\"" : "'";
  const bool plain = arm.find_first_of(".[]\"'= ") == std::string::npos;
  return "arm." + (plain ? arm : quote + arm + quote) + "." + set;
}

}  // namespace sim::experiment

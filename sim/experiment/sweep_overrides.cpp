// sim/experiment/sweep_overrides.cpp: see sweep_overrides.h. Looks at the file as written: the resolved
// scenario no longer tells what an arm sets from what it inherits.
#include "sim/experiment/sweep_overrides.h"

#include <algorithm>

#include "sim/scenario/override.h"
#include "sim/scenario/parse.h"

namespace sim::experiment {
namespace {

using base::Value;

const Value* element(const Value& list, const std::string& part) {
  for (std::size_t i = 0; i < list.items.size(); ++i) {
    const Value* const name = list.items[i].find("name");
    const bool named = name != nullptr && name->kind == Value::Kind::kText && name->text == part;
    if (named || std::to_string(i) == part) return &list.items[i];
  }
  return nullptr;
}

bool sets(const Value& arm, const std::vector<std::string>& path) {
  const Value* here = &arm;
  for (const std::string& part : path) {
    here = here->kind == Value::Kind::kList ? element(*here, part) : here->find(part);
    if (here == nullptr) return false;
  }
  return true;
}

}  // namespace

std::optional<std::string> arm_that_sets(const SweepPlan& plan, const std::string& key) {
  base::Problems ignored;  // whatever is wrong with the key is told when it is laid on the scenario
  const auto change = scenario::parse_override(key + "=0", ignored);
  const Value root = scenario::parse_toml(plan.text, plan.file, ignored);
  const Value* const arms = root.find("arm");
  if (!change || change->path[0] == "arm" || arms == nullptr) return std::nullopt;
  for (const Value& arm : arms->items) {
    const Value* const name = arm.find("name");
    if (name == nullptr) continue;
    const auto& wanted = plan.options.arms;
    if (!wanted.empty() && std::ranges::count(wanted, name->text) == 0) continue;
    if (sets(arm, change->path)) return name->text;
  }
  return std::nullopt;
}

std::string text_of_arms(const std::string& text, const std::vector<std::string>& names) {
  base::Problems ignored;
  Value root = scenario::parse_toml(text, "", ignored);
  root.remove("sweep");
  root.remove("expect");
  if (Value* const arms = root.find("arm")) {
    std::erase_if(arms->items, [&](const Value& arm) {
      const Value* const name = arm.find("name");
      return name == nullptr || std::ranges::count(names, name->text) == 0;
    });
  }
  std::string result;
  for (const base::Entry& entry : root.entries) {
    result += base::key_to_toml(entry.key) + " = " + base::to_toml(entry.value) + "\n";
  }
  return result;
}

}  // namespace sim::experiment

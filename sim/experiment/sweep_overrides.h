// sim/experiment/sweep_overrides.h: what lies on what: arms, values set for the whole sweep, axes.
//
// A key has several names ("failure.chips.mtbi", "failure.0.mtbi", "arm.NAME.quorum"); here each is looked
// up in the scenario as written, so that two names of one key are seen to be one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/experiment/sweep_plan.h"

namespace sim::experiment {

// Where a key stands: the arm that it is for, or "" (all, or none), and the path with lists by index.
struct KeyPath {
  std::string arm;
  std::vector<std::string> parts;
  bool operator==(const KeyPath&) const = default;
};
// Nothing for text that is no key: what is wrong with it is told when it is laid on the scenario.
std::optional<KeyPath> path_of_key(const base::Value& root, const std::string& key);
std::optional<KeyPath> path_of_set(const base::Value& root, const std::string& set);  // "KEY=VALUE"

// Whether an axis on `axis` replaces all that a set of `set` has put there.
bool lies_over(const KeyPath& axis, const KeyPath& set);

// The first of the sweep's arms whose own [[arm]] table gives a value to `key`. An axis on it would lie
// over that value, and arms that differ in it would become equal.
std::optional<std::string> arm_that_sets(const SweepPlan& plan, const base::Value& root, const std::string& key);

// "KEY=VALUE" for one arm alone where KEY acts on arms: "arm.NAME.KEY=VALUE".
std::string for_arm(const std::string& set, const std::string& arm);

}  // namespace sim::experiment

// sim/scenario/arm_trees.h: one tree of values per arm, overrides and --set merged in.
#pragma once

#include <string>
#include <vector>

#include "sim/base/schema.h"
#include "sim/scenario/override.h"

namespace sim::scenario {

// [training] first, then each [[arm]]; each a table of training, learning, failure and fault. Keys
// merge one by one; lists are replaced; an arm that changes `method` keeps only the keys that the
// new method has. `changes` come last: those of training, learning, failure and fault act on every
// arm that has what they name, those of arm.NAME on one; the others must have been applied to
// `root` before and are passed over.
std::vector<base::Value> arm_trees(const base::Value& root, const std::vector<Override>& changes,
                                   base::Problems& problems);

// Whether the change is arm_trees's business.
bool acts_on_arms(const Override& change);

// training.name, or the method's name, or "".
std::string arm_name(const base::Value& arm);

}  // namespace sim::scenario

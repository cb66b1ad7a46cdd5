// sim/scenario/bind.h: from a tree of values to a Scenario, arms merged.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/base/schema.h"
#include "sim/base/value.h"
#include "sim/scenario/override.h"
#include "sim/scenario/scenario.h"

namespace sim::scenario {

// The values with the trees they came from, so that cross-checks can name a place.
struct Bound {
  Scenario scenario;
  base::Value root;
  std::vector<base::Value> arms;  // per arm: a table of training, learning, failure, fault
  bool file_missing = false;      // a file that it names cannot be read
};

// Order: file, arm, `changes` (design section 4, arms). `folder` is where named files are looked
// for, with a slash at its end, or empty.
Bound bind_scenario(base::Value root, const std::vector<Override>& changes,
                    std::optional<std::uint64_t> seed, const std::string& folder,
                    base::Problems& problems);

// Where `keys` stands in `tree`, or where it would; with the full name either way.
base::Place place_of(const base::Value& tree, const std::vector<std::string>& keys);

}  // namespace sim::scenario

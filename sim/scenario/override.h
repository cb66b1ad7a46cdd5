// sim/scenario/override.h: --set: one value laid over a tree, at a dotted path.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/base/schema.h"
#include "sim/base/value.h"

namespace sim::scenario {

// "arm.NAME.training.quorum=3": elements of lists by name or index, with dots or brackets; parts
// that hold dots in quotes.
struct Override {
  std::string shown;                // "--set training.quorum=3"
  std::vector<std::string> path;
  base::Value value;
};

// Adds a problem and returns nothing when the text has no path and no '='.
std::optional<Override> parse_override(const std::string& text, base::Problems& problems);

// Sets the value in `root`, making tables on the way where there are none; `first` is the index of
// the path's part to start with, and `prefix` the full name of `root`. A list's element must exist:
// else a problem is added and false returned.
bool apply(const Override& change, std::size_t first, const std::string& prefix, base::Value& root,
           base::Problems& problems);

}  // namespace sim::scenario

// sim/scenario/parse.h: TOML text to our own tree of values with places.
//
// The implementation is the only code that includes the TOML library.
#pragma once

#include <string>

#include "sim/base/schema.h"
#include "sim/base/value.h"

namespace sim::scenario {

// The tree of `text`, entries in the order written; `file` is what places show. On a syntax error
// one problem is added and the tree is empty.
base::Value parse_toml(const std::string& text, const std::string& file, base::Problems& problems);

// One value as it stands after `=`; text that is no TOML value is taken as bare text ("3 h").
// Every place in it is `place`, and its paths start with that of `place`.
base::Value parse_value(const std::string& text, const base::Place& place);

}  // namespace sim::scenario

// sim/experiment/scenario_changes.h: which keys two resolved scenarios have otherwise.
//
// Elements of a list go by their name (a sweep's axes by their key), so that one more of them, or another
// order, hides nothing: "arm.elastic.training.upscale", 'failure.chips.mtbi'. Those without, or with one
// name twice, go by their index: "failure[0].mtbi".
#pragma once

#include <string>
#include <vector>

namespace sim::experiment {

struct ScenarioChange {
  enum class Kind { kValue, kAdded, kRemoved };  // the last two: a whole element of a list
  Kind kind;
  std::string key;
  std::string was, now;  // of a value, as TOML; empty: the key was not there, or is not
};

// "training.upscale: "12 s" -> "24 s"", "failure.chips: added".
std::string as_line(const ScenarioChange& change);

// Keys of the base first, then arms, then [sweep]; each in the order of their names.
std::vector<ScenarioChange> scenario_changes(const std::string& was, const std::string& now);

// Whether random streams of the first scenario have no like in the second: they hang on the names of
// failure models and of the units that fail, and on nothing else.
bool moves_streams(const ScenarioChange& change);

}  // namespace sim::experiment

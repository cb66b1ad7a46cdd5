// sim/experiment/scenario_changes.h: which keys two resolved scenarios have otherwise.
#pragma once

#include <string>
#include <vector>

namespace sim::experiment {

struct ScenarioChange {
  std::string key;       // "failure[0].mtbi"
  std::string was, now;  // as TOML; empty: the key was not there, or is not
};

// In the order of the keys' names.
std::vector<ScenarioChange> scenario_changes(const std::string& was, const std::string& now);

// Whether the change moves random streams: another fleet, other failures or faults, other spread.
bool moves_streams(const ScenarioChange& change);

}  // namespace sim::experiment

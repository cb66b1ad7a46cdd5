// sim/scenario/arm_fleet.h: which islands and regions an arm uses, before anything is built.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/scenario/scenario.h"

namespace sim::scenario {

// Names of one group of islands: its own, or NAME/1 .. NAME/count.
std::vector<std::string> island_names(const methods::IslandOptions& group);

// How many islands of the group the arm uses: region:NAME, island:GROUP or island:GROUP/k.
std::int64_t used_count(const methods::IslandOptions& group, const std::vector<std::string>& use);

std::int64_t learner_count(const Scenario& scenario, const methods::TrainingOptions& training);
std::int64_t used_slices(const Scenario& scenario, const methods::TrainingOptions& training);

// In the order of the file.
std::vector<std::string> used_regions(const Scenario& scenario,
                                      const methods::TrainingOptions& training);

// The direct link between two regions, or null.
const engine::LinkOptions* find_link(const engine::NetworkOptions& network, const std::string& a,
                                     const std::string& b);

}  // namespace sim::scenario

// sim/scenario/arm_fleet.cpp: which islands and regions an arm uses.
#include "sim/scenario/arm_fleet.h"

#include <fmt/format.h>

#include <algorithm>

namespace sim::scenario {

namespace {

bool is_used(const methods::IslandOptions& group, const std::string& island,
             const std::vector<std::string>& use) {
  return use.empty() || std::any_of(use.begin(), use.end(), [&](const std::string& entry) {
           return entry == "region:" + group.region || entry == "island:" + group.name ||
                  entry == "island:" + island;
         });
}

}  // namespace

std::vector<std::string> island_names(const methods::IslandOptions& group) {
  if (group.count == 1) return {group.name};
  std::vector<std::string> names;
  for (std::int64_t n = 1; n <= group.count; ++n) names.push_back(fmt::format("{}/{}", group.name, n));
  return names;
}

std::int64_t used_count(const methods::IslandOptions& group, const std::vector<std::string>& use) {
  const std::vector<std::string> names = island_names(group);
  return std::count_if(names.begin(), names.end(),
                       [&](const std::string& name) { return is_used(group, name, use); });
}

std::int64_t learner_count(const Scenario& scenario, const methods::TrainingOptions& training) {
  if (training.learners == methods::LearnerSplit::kOne) return 1;
  if (training.learners == methods::LearnerSplit::kGroups) return training.groups;
  std::int64_t count = 0;
  for (const auto& group : scenario.islands) count += used_count(group, training.use);
  return count;
}

std::int64_t used_slices(const Scenario& scenario, const methods::TrainingOptions& training) {
  std::int64_t count = 0;
  for (const auto& group : scenario.islands) count += used_count(group, training.use) * group.slices;
  return count;
}

std::vector<std::string> used_regions(const Scenario& scenario,
                                      const methods::TrainingOptions& training) {
  std::vector<std::string> regions;
  for (const auto& region : scenario.network.regions) {
    const bool used = std::any_of(scenario.islands.begin(), scenario.islands.end(), [&](const auto& group) {
      return group.region == region.name && used_count(group, training.use) > 0;
    });
    if (used) regions.push_back(region.name);
  }
  return regions;
}

const engine::LinkOptions* find_link(const engine::NetworkOptions& network, const std::string& a,
                                     const std::string& b) {
  const auto found = std::find_if(network.links.begin(), network.links.end(), [&](const auto& link) {
    return (link.region_a == a && link.region_b == b) || (link.region_a == b && link.region_b == a);
  });
  return found == network.links.end() ? nullptr : &*found;
}

}  // namespace sim::scenario

// sim/scenario/arm_fleet.cpp: which islands and regions an arm uses.
#include "sim/scenario/arm_fleet.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>

namespace sim::scenario {

namespace {

bool is_used(const methods::IslandOptions& group, const std::string& island,
             const std::vector<std::string>& use) {
  return use.empty() || std::any_of(use.begin(), use.end(), [&](const std::string& entry) {
           return entry == "region:" + group.region || entry == "island:" + group.name ||
                  entry == "island:" + island;
         });
}

struct RingCost {
  double slowest = std::numeric_limits<double>::infinity();
  base::Nanoseconds delay = 0;
  // Smaller is better.
  auto key() const { return std::tuple(-slowest, delay); }
};

bool add_edge(const engine::NetworkOptions& network, const std::string& a, const std::string& b,
              RingCost& cost) {
  const engine::LinkOptions* const link = find_link(network, a, b);
  if (link == nullptr) return false;
  cost.slowest = std::min(cost.slowest, link->bytes_per_s);
  cost.delay += link->rtt;
  return true;
}

// Depth-first over orders of the rest; `path` holds what is fixed. Ascending order of names makes
// the first of equals the lexicographically first.
void extend(const engine::NetworkOptions& network, std::vector<std::string>& path,
            std::vector<std::string>& rest, RingCost cost, RingCost& best_cost,
            std::vector<std::string>& best) {
  if (rest.empty()) {
    if (path.size() > 1 && !add_edge(network, path.back(), path.front(), cost)) return;
    if (best.empty() || cost.key() < best_cost.key()) {
      best = path;
      best_cost = cost;
    }
    return;
  }
  for (std::size_t i = 0; i < rest.size(); ++i) {
    RingCost longer = cost;
    if (!add_edge(network, path.back(), rest[i], longer)) continue;
    if (!best.empty() && longer.key() >= best_cost.key()) continue;
    const std::string next = rest[i];
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
    path.push_back(next);
    extend(network, path, rest, longer, best_cost, best);
    path.pop_back();
    rest.insert(rest.begin() + static_cast<std::ptrdiff_t>(i), next);
  }
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

std::vector<std::string> best_region_ring(const engine::NetworkOptions& network,
                                          std::vector<std::string> regions) {
  if (regions.size() <= 1) return regions;
  std::sort(regions.begin(), regions.end());
  std::vector<std::string> path = {regions[0]};
  std::vector<std::string> rest(regions.begin() + 1, regions.end());
  std::vector<std::string> best;
  RingCost best_cost;
  extend(network, path, rest, {}, best_cost, best);
  return best;
}

}  // namespace sim::scenario

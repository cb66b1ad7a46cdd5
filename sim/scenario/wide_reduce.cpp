// sim/scenario/wide_reduce.cpp: see wide_reduce.h.
#include "sim/scenario/wide_reduce.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>

#include "sim/scenario/arm_fleet.h"

namespace sim::scenario {
namespace {

[[noreturn]] void refuse(const std::string& a, const std::string& b) {
  throw std::invalid_argument(fmt::format("regions {} and {} must talk and cannot", a, b));
}

// A ring of n carries 2 (n-1)/n of the payload over each edge; a message is handed on 2 (n-1) times, which
// is twice round less two neighbouring edges.
WideReduce over_ring(const engine::NetworkOptions& network, const std::vector<std::string>& ring) {
  const auto n = static_cast<double>(ring.size());
  WideReduce result;
  base::Nanoseconds round = 0, shortest_two = base::kNever;
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const auto edge = [&](std::size_t at) -> const engine::LinkOptions& {
      return *find_link(network, ring[at % ring.size()], ring[(at + 1) % ring.size()]);
    };
    result.s_per_byte = std::max(result.s_per_byte, 2 * (n - 1) / n / edge(i).bytes_per_s);
    round += edge(i).rtt / 2;
    shortest_two = std::min(shortest_two, edge(i).rtt / 2 + edge(i + 1).rtt / 2);
  }
  result.delay = 2 * round - shortest_two;
  return result;
}

// In to the first region, and out again.
WideReduce over_star(const engine::NetworkOptions& network, const std::vector<std::string>& regions) {
  WideReduce result;
  for (std::size_t i = 1; i < regions.size(); ++i) {
    const engine::LinkOptions* const link = find_link(network, regions[0], regions[i]);
    if (link == nullptr) refuse(regions[0], regions[i]);
    result.s_per_byte = std::max(result.s_per_byte, 2 / link->bytes_per_s);
    result.delay = std::max(result.delay, link->rtt);
  }
  return result;
}

}  // namespace

WideReduce wide_reduce(const engine::NetworkOptions& network, const std::vector<std::string>& regions) {
  if (network.model == engine::NetworkModel::kNone || regions.size() < 2) return {};
  const std::vector<std::string> ring = best_region_ring(network, regions);
  return ring.empty() ? over_star(network, regions) : over_ring(network, ring);
}

base::Nanoseconds one_way_delay(const engine::NetworkOptions& network, const std::string& a,
                                const std::string& b) {
  if (network.model == engine::NetworkModel::kNone || a == b) return 0;
  if (const engine::LinkOptions* const link = find_link(network, a, b)) return link->rtt / 2;
  // As often as there are regions, each link shortens what is known of its ends.
  std::map<std::string, base::Nanoseconds> least;
  for (const auto& region : network.regions) least[region.name] = base::kNever;
  least[a] = 0;
  for (std::size_t round = 0; round < network.regions.size(); ++round) {
    for (const auto& link : network.links) {
      base::Nanoseconds& one = least[link.region_a];
      base::Nanoseconds& other = least[link.region_b];
      if (one < base::kNever) other = std::min(other, one + link.rtt / 2);
      if (other < base::kNever) one = std::min(one, other + link.rtt / 2);
    }
  }
  if (least[b] == base::kNever) refuse(a, b);
  return least[b];
}

}  // namespace sim::scenario

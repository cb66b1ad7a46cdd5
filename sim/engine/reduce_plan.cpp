// sim/engine/reduce_plan.cpp: see reduce_plan.h.
#include "sim/engine/reduce_plan.h"

#include <algorithm>
#include <map>
#include <stdexcept>

#include "sim/engine/spanning_tree.h"

namespace sim::engine {
namespace {

using Members = std::vector<std::uint16_t>;

// One ring that could be.
struct Candidate {
  EdgeTable table;
  RingOrder ring;  // empty: none
  Nanoseconds time = base::kNever;
};

Candidate evaluated(EdgeTable table, RingOrder ring, std::int64_t payload_bytes) {
  Candidate result{std::move(table), std::move(ring)};
  if (result.ring.empty()) return result;
  const std::int64_t bytes = ring_edge_bytes(result.ring.size(), payload_bytes);
  result.time = ring_time(result.table, result.ring, bytes);
  return result;
}

// The lane of each link is at twice its position, that of its way back behind it.
std::vector<Lane> lanes_of(const NetworkView& view) {
  std::vector<Lane> lanes;
  for (const LinkState& link : view.links) lanes.insert(lanes.end(), 2, {link.bytes_per_s, link.one_way});
  return lanes;
}

std::uint32_t lane_from(const PathFinder& finder, std::uint16_t source, std::uint16_t target) {
  const LinkState* link = finder.link(source, target);
  const auto position = static_cast<std::uint32_t>(link - finder.view().links.data());
  return 2 * position + (link->region_a == source ? 0 : 1);
}

std::vector<std::uint32_t> lanes_along(const PathFinder& finder, const Members& path) {
  std::vector<std::uint32_t> lanes;
  for (std::size_t i = 0; i + 1 < path.size(); ++i) {
    lanes.push_back(lane_from(finder, path[i], path[i + 1]));
  }
  return lanes;
}

EdgeTable empty_table(const PathFinder& finder, std::size_t count) {
  return {count, lanes_of(finder.view()), std::vector<std::vector<std::uint32_t>>(count * count)};
}

// `path_of` two regions, the first of which is the smaller; the way back is the same path.
template <class PathOf>
EdgeTable table_of(const PathFinder& finder, const Members& members, PathOf path_of) {
  EdgeTable table = empty_table(finder, members.size());
  for (std::size_t a = 0; a < members.size(); ++a) {
    for (std::size_t b = a + 1; b < members.size(); ++b) {
      Members path = path_of(members[a], members[b]);
      table.crossings[a * members.size() + b] = lanes_along(finder, path);
      std::ranges::reverse(path);
      table.crossings[b * members.size() + a] = lanes_along(finder, path);
    }
  }
  return table;
}

Candidate direct_ring(const PathFinder& finder, const Members& members, std::int64_t bytes) {
  EdgeTable table = table_of(finder, members, [&](std::uint16_t a, std::uint16_t b) {
    return finder.link(a, b) == nullptr ? Members{} : Members{a, b};
  });
  RingOrder ring = search_ring(table, bytes);
  return evaluated(std::move(table), std::move(ring), bytes);
}

Candidate relayed_ring(const PathFinder& finder, const Members& members, std::int64_t bytes) {
  EdgeTable table = table_of(finder, members, [&](std::uint16_t a, std::uint16_t b) {
    return finder.usual(a, b).regions;
  });
  RingOrder ring = search_ring(table, bytes);
  return evaluated(std::move(table), std::move(ring), bytes);
}

// Round the widest spanning tree: from each member on to the next that the walk meets.
Candidate tree_walk(const PathFinder& finder, const Members& members, std::int64_t bytes) {
  const std::vector<Members> legs = walk_round_tree(finder.view(), members);
  EdgeTable table = empty_table(finder, members.size());
  RingOrder ring;
  const auto position = [&](std::uint16_t region) {
    return static_cast<std::size_t>(std::ranges::lower_bound(members, region) - members.begin());
  };
  for (const Members& leg : legs) {
    const std::size_t from = position(leg.front()), to = position(leg.back());
    ring.push_back(static_cast<std::uint16_t>(from));
    table.crossings[from * members.size() + to] = lanes_along(finder, leg);
  }
  return evaluated(std::move(table), std::move(ring), bytes);
}

// Every two members share a link that is whole: a relayed ring is the direct one.
bool is_full_mesh(const PathFinder& finder, const Members& members) {
  for (std::size_t a = 0; a < members.size(); ++a) {
    for (std::size_t b = a + 1; b < members.size(); ++b) {
      const LinkState* link = finder.link(members[a], members[b]);
      if (link == nullptr || link->cut) return false;
    }
  }
  return true;
}

bool crosses_cut_link(const NetworkView& view, const Candidate& candidate) {
  return std::ranges::any_of(crossed_lanes(candidate.table, candidate.ring),
                             [&](std::uint32_t lane) { return view.links[lane / 2].cut; });
}

Candidate best_candidate(const NetworkView& view, const Members& members, std::int64_t bytes) {
  const PathFinder finder(view);
  Candidate direct = direct_ring(finder, members, bytes);
  Candidate relayed = tree_walk(finder, members, bytes);
  if (!is_full_mesh(finder, members)) {
    Candidate other = relayed_ring(finder, members, bytes);
    if (other.time <= relayed.time) relayed = std::move(other);
  }
  const bool may_stay = !direct.ring.empty() && !crosses_cut_link(view, direct);
  const double gain = may_stay ? kRelayTimeGain : 1.0;
  const bool stays = !direct.ring.empty() && static_cast<double>(direct.time) <=
                                                 gain * static_cast<double>(relayed.time);
  return stays ? std::move(direct) : std::move(relayed);
}

// Members of the largest group stay; the others go to `left_out`.
void leave_out_unjoined(const NetworkView& view, Members& members, Members& left_out) {
  const std::vector<std::uint16_t> group = connected_groups(view);
  std::map<std::uint16_t, std::size_t> sizes;
  for (const std::uint16_t member : members) ++sizes[group[member]];
  // A group is called after its smallest region, so the first of equals is the first in order.
  const std::uint16_t largest = std::ranges::max_element(sizes, {}, [](const auto& entry) {
                                  return entry.second;
                                })->first;
  for (const std::uint16_t member : members) {
    if (group[member] != largest) left_out.push_back(member);
  }
  std::erase_if(members, [&](std::uint16_t member) { return group[member] != largest; });
}

}  // namespace

std::vector<Hop> ReducePlan::hops(std::int64_t payload_bytes) const {
  return edge_hops(members.empty() ? 0 : ring_edge_bytes(members.size(), payload_bytes));
}

std::vector<Hop> ReducePlan::edge_hops(std::int64_t edge_bytes) const {
  std::vector<Hop> result;
  for (const auto& [source, target] : hops_crossed) result.push_back({source, target, edge_bytes});
  return result;
}

Nanoseconds ReducePlan::exchange_time(std::int64_t edge_bytes, Nanoseconds already) const {
  return engine::exchange_time(lanes, lanes_crossed, edge_bytes, already);
}

Nanoseconds ReducePlan::time(std::int64_t payload_bytes) const {
  if (members.size() < 2) return 0;
  return exchange_time(ring_edge_bytes(members.size(), payload_bytes)) + extra_latency;
}

ReducePlan plan_all_reduce(const NetworkView& view, std::vector<std::uint16_t> members,
                           std::int64_t payload_bytes) {
  std::ranges::sort(members);
  if (std::ranges::adjacent_find(members) != members.end()) {
    throw std::invalid_argument("all-reduce: a region twice");
  }
  if (!members.empty() && members.back() >= view.region_count) {
    throw std::invalid_argument("all-reduce: a region that is not there");
  }
  ReducePlan plan;
  if (!members.empty()) leave_out_unjoined(view, members, plan.left_out);
  if (members.size() < 2) {
    plan.members = std::move(members);
    return plan;
  }
  const Candidate best = best_candidate(view, members, payload_bytes);
  for (const std::uint16_t position : best.ring) plan.members.push_back(members[position]);
  plan.lanes_crossed = crossed_lanes(best.table, best.ring);
  plan.lanes = best.table.lanes;
  plan.extra_latency =
      best.time - plan.exchange_time(ring_edge_bytes(plan.members.size(), payload_bytes));
  for (const std::uint32_t lane : plan.lanes_crossed) {
    const LinkState& link = view.links[lane / 2];
    plan.hops_crossed.push_back(lane % 2 == 0 ? std::pair(link.region_a, link.region_b)
                                              : std::pair(link.region_b, link.region_a));
  }
  return plan;
}

}  // namespace sim::engine

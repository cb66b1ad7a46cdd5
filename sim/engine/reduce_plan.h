// sim/engine/reduce_plan.h: how an all-reduce goes over the links, planned on what they carry.
//
// A closed ring of the members. Where links of their own join them it is the best ring over those; where
// none closes, edges pass on through other regions: the best ring over relayed paths, or the walk there
// and back along the widest spanning tree (on a chain of regions: the line, up and down), which loads
// each of its links once per direction. What an edge carries is charged on every link that it crosses.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "sim/engine/network_view.h"
#include "sim/engine/ring_search.h"

namespace sim::engine {

struct Hop {
  std::uint16_t source_region, target_region;
  std::int64_t bytes;
};

// A ring over direct links is left for one that relays only when it takes more than this times as long
// (assumed: operators route over their own links first); when it must cross a link that is cut, or none
// closes, already for any gain.
constexpr double kRelayTimeGain = 1.5;

struct ReducePlan {
  std::vector<std::uint16_t> members;   // in the order of the ring, the smallest first
  std::vector<std::uint16_t> left_out;  // asked for, and not joined with them; ascending
  std::vector<std::pair<std::uint16_t, std::uint16_t>> hops_crossed;  // (source, target), in ring order
  std::vector<std::uint32_t> lanes_crossed;  // theirs, positions in `lanes`
  std::vector<Lane> lanes;
  // What messages that are handed on wait longer than the exchange of all hops at once takes.
  Nanoseconds extra_latency = 0;

  // Of an all-reduce of `payload` bytes: 2 (n-1)/n of it over each edge.
  std::vector<Hop> hops(std::int64_t payload_bytes) const;
  // Every edge carries this.
  std::vector<Hop> edge_hops(std::int64_t edge_bytes) const;
  // All hops at once, `edge_bytes` each, alone on their links; `already` as in engine::exchange_time().
  Nanoseconds exchange_time(std::int64_t edge_bytes, Nanoseconds already = 0) const;
  // With the extra latency: the whole all-reduce alone on the network. 0 for one member.
  Nanoseconds time(std::int64_t payload_bytes) const;
};

// For an all-reduce of `payload` bytes among `members`. Those of the largest connected group are in
// (ties: of the smallest region), the others are left out. Never slower with a link more or a faster one
// among plans of one kind, direct or relayed, up to kMembersTriedAll members.
// Errors: std::invalid_argument for a member twice or no region.
ReducePlan plan_all_reduce(const NetworkView& view, std::vector<std::uint16_t> members,
                           std::int64_t payload_bytes);

}  // namespace sim::engine

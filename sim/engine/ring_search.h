// sim/engine/ring_search.h: the order in which members should stand in a ring.
//
// An edge of the ring may cross several links, and several edges may cross one: what a link carries is
// the sum. Up to kMembersTriedAll members every ring is tried (with bounds); beyond that the widest ring
// that a threshold search finds and the ways to the nearest neighbour are improved by exchanging parts.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/time.h"

namespace sim::engine {

using base::Nanoseconds;

constexpr std::size_t kMembersTriedAll = 10;

// One direction of a link.
struct Lane {
  double bytes_per_s;
  Nanoseconds one_way;
};

// Which lanes an edge between two members crosses.
struct EdgeTable {
  std::size_t member_count;
  std::vector<Lane> lanes;
  std::vector<std::vector<std::uint32_t>> crossings;  // (members x members) of lanes; empty: no edge

  const std::vector<std::uint32_t>& crossing(std::size_t from, std::size_t to) const {
    return crossings[from * member_count + to];
  }
};

using RingOrder = std::vector<std::uint16_t>;  // positions of members

// What each edge of a ring carries for an all-reduce of `payload` bytes: 2 (n-1)/n of it, rounded up.
std::int64_t ring_edge_bytes(std::size_t members, std::int64_t payload_bytes);

// All edges at once, each carrying `edge_bytes` over the lanes that it crosses: until the last byte of
// each lane has arrived, when the first has left `already` before.
Nanoseconds exchange_time(const std::vector<Lane>& lanes, const std::vector<std::uint32_t>& crossed,
                          std::int64_t edge_bytes, Nanoseconds already = 0);

// The lanes that the ring's edges cross, in order.
std::vector<std::uint32_t> crossed_lanes(const EdgeTable& table, const RingOrder& ring);

// An all-reduce alone on the network: what the fullest lane takes to carry its bytes, and the propagation
// delays that messages pay one after another when they are handed on 2(n-1) times: twice round less
// the two shortest neighbouring edges. Requires: at least two members.
Nanoseconds ring_time(const EdgeTable& table, const RingOrder& ring, std::int64_t edge_bytes);

// The closed ring through all members (at least 2) in which an all-reduce of `payload` takes least
// time; of equals the lexicographically first where all are tried. Empty: none was found (none exists,
// up to kMembersTriedAll members).
RingOrder search_ring(const EdgeTable& table, std::int64_t payload_bytes);

}  // namespace sim::engine

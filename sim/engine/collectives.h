// sim/engine/collectives.h: rings, two-level rings and stars among regions, as a few hops each.
//
// A ring among n members is n flows that each carry all that the member sends in 2(n-1) messages;
// never n^2 messages (design section 7). Tests hold this to the message-by-message form.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/engine/transport.h"

namespace sim::engine {

// The order of `regions` in which the slowest link of the closed ring is fastest, then the total
// delay least, then the lexicographically first; only links that are up count. Empty when no ring
// exists and there are at least two regions. Exhaustive up to 8 regions, then nearest-neighbour.
std::vector<std::uint16_t> best_ring(const Transport& transport, std::vector<std::uint16_t> regions);

// What each edge of the ring carries for an all-reduce of `payload` bytes: 2 (n-1)/n of it.
std::vector<Hop> ring_hops(const std::vector<std::uint16_t>& ring, std::int64_t payload_bytes);

// The 2(n-1) propagation delays that the messages of a ring pay one after another, less the one that
// each hop pays itself.
Nanoseconds ring_extra_latency(const Transport& transport, const std::vector<std::uint16_t>& ring);

// Reduce-scatter and all-gather among `members` hosts inside one region over its fabric, closed
// form: 2 (m-1)/m payload / rate + 2 (m-1) latency; 0 for one member.
Nanoseconds local_all_reduce(const RegionOptions& region, std::size_t members,
                             std::int64_t payload_bytes);

}  // namespace sim::engine

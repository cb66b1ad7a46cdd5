// sim/engine/ring_threshold.h: a ring whose narrowest edge is as wide as a bounded search finds.
#pragma once

#include "sim/engine/ring_search.h"

namespace sim::engine {

// Of the narrowest lane that the edge crosses, bytes/s; 0: no edge.
double edge_width(const EdgeTable& table, std::size_t from, std::size_t to);

// Bisects the widths: at each, a ring over edges at least as wide is looked for by extending a path and,
// where it is stuck, turning its tail round (Posa, Discrete Mathematics 14, 1976), from each member with
// a bounded number of turns. Empty: none was found at any width.
RingOrder widest_ring(const EdgeTable& table);

}  // namespace sim::engine

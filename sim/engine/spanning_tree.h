// sim/engine/spanning_tree.h: the walk round the widest tree that joins some regions.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/engine/network_view.h"

namespace sim::engine {

// The spanning tree whose links are widest (then shortest, then first in order), cut down to what
// joins `members`, walked round from the smallest member, branches in ascending order. One leg for
// each member: the regions from it on to the next member that the walk meets for the first time; the
// last leg leads back to the first. Every link of the tree is crossed once in each direction. No tree
// over these links has a wider narrowest link (Kruskal, Proc. AMS 7, 1956).
// Requires: at least two members, ascending, of one connected group.
std::vector<std::vector<std::uint16_t>> walk_round_tree(const NetworkView& view,
                                                        const std::vector<std::uint16_t>& members);

}  // namespace sim::engine

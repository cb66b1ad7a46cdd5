// sim/methods/reachable_side.h: with whom a job goes on where the network has fallen apart.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "sim/engine/transport.h"

namespace sim::methods {

// Chips by region.
using ChipsIn = std::map<std::uint16_t, std::int64_t>;

// Of the regions given that are up: those that reach each other, over others of them where need be,
// and have most chips together; of equals the ones with the first region. Ascending.
std::vector<std::uint16_t> largest_side(const engine::Transport& transport, const ChipsIn& chips);

}  // namespace sim::methods

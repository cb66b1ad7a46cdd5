// sim/methods/fragment_traffic.h: when fragments are due, how many bytes they are, how they cross links.
//
// Shared by the methods that merge fragments, with a syncer or without.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/engine/process.h"
#include "sim/methods/world.h"

namespace sim::methods {

// Fragments p, ascending, with (step - first_take) mod H == floor(p H / P). Step 0 is no step.
// Source: Streaming DiLoCo, arXiv:2501.18512; the floor reproduces its Table 4 (facts 2.5).
std::vector<std::uint16_t> fragments_due(const TrainingOptions& training, std::uint32_t step);

// Whole bytes of `parameters` values in the format, rounded up.
std::int64_t wire_bytes(std::int64_t parameters, optim::WireFormat format);
// Of one fragment in the arm's format.
std::int64_t fragment_wire_bytes(const World& world, std::uint16_t fragment);

// Of parameters as such, as whole-model copies and adopted fragments carry them: half of what the syncer
// keeps of each parameter, which is its value and its outer momentum.
std::int64_t value_bytes(const World& world, std::int64_t parameters);
std::int64_t fragment_value_bytes(const World& world, std::uint16_t fragment);

// All-reduce of `bytes` among regions that each hold one sum, as planned on what the links carry now
// (engine/reduce_plan.h). One region: done at once. One that `lead` cannot reach: kLinkDown at once,
// nothing sent.
engine::Task<tape::TransferStatus> reduce_among_regions(World& world,
                                                        std::vector<std::uint16_t> regions,
                                                        std::uint16_t lead, std::int64_t bytes);

}  // namespace sim::methods

// sim/engine/collectives.h: the all-reduce inside one region, in closed form.
//
// Between regions it is a ring of a few flows: see reduce_plan.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sim/base/time.h"
#include "sim/engine/network_options.h"

namespace sim::engine {

// Reduce-scatter and all-gather among `members` hosts inside one region over its fabric, closed
// form: 2 (m-1)/m payload / rate + 2 (m-1) latency; 0 for one member.
base::Nanoseconds local_all_reduce(const RegionOptions& region, std::size_t members,
                                   std::int64_t payload_bytes);

}  // namespace sim::engine

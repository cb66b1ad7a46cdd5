// sim/scenario/wide_reduce.h: what an all-reduce among regions takes on healthy links, per byte.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/scenario/link_forecast.h"

namespace sim::scenario {

struct WideReduce {
  double s_per_byte = 0;        // of the payload, on the busiest link, which its syncs share
  base::Nanoseconds delay = 0;  // propagation, whatever the payload
};

// Among the regions at these positions, from the plan (engine/reduce_plan.h) for `payload_bytes`. One
// region, or no network: nothing.
// Errors: std::invalid_argument where a region cannot be reached.
WideReduce wide_reduce(NominalPlans& plans, const std::vector<std::uint16_t>& regions,
                       std::int64_t payload_bytes);

// One way between two regions; 0 within a region and without a network.
// Errors: std::invalid_argument where there is no way.
base::Nanoseconds one_way_delay(const engine::NetworkOptions& network, std::uint16_t source,
                                std::uint16_t target);

}  // namespace sim::scenario

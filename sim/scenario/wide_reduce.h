// sim/scenario/wide_reduce.h: what an all-reduce among regions takes on healthy links, per byte.
#pragma once

#include <string>
#include <vector>

#include "sim/scenario/scenario.h"

namespace sim::scenario {

struct WideReduce {
  double s_per_byte = 0;        // of the payload, on the slowest link, which its syncs share
  base::Nanoseconds delay = 0;  // propagation, whatever the payload
};

// Among `regions` over the best ring; where none closes, a star through the first of them. One region, or
// no network: nothing.
// Errors: std::invalid_argument where a region cannot be reached.
WideReduce wide_reduce(const engine::NetworkOptions& network, const std::vector<std::string>& regions);

// One way from a to b over the direct link, or over the least of delays through others; 0 within a region
// and without a network.
// Errors: std::invalid_argument where there is no way.
base::Nanoseconds one_way_delay(const engine::NetworkOptions& network, const std::string& a,
                                const std::string& b);

}  // namespace sim::scenario

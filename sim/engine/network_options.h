// sim/engine/network_options.h: regions and the links between them, as plain values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/time.h"

namespace sim::engine {

struct RegionOptions {
  std::string name;
  double fabric_bytes_per_s;              // between hosts of this region
  base::Nanoseconds fabric_latency;
};

struct LinkOptions {
  std::string region_a, region_b;
  double bytes_per_s;                     // each direction
  base::Nanoseconds rtt;
  double dollars_per_gb = 0;              // egress, either direction; 0: that of [cost]
};

enum class NetworkModel : std::uint8_t {
  kSimgrid,     // flows share links, max-min
  kNone,        // every transfer takes no time: goodput questions only
  kClosedForm,  // as kSimgrid, worked out by formula
};

struct NetworkOptions {
  NetworkModel model;
  std::vector<RegionOptions> regions;
  std::vector<LinkOptions> links;
};

// Position of the region called `name`. Requires: it exists; else std::invalid_argument.
std::uint16_t region_index(const NetworkOptions& options, std::string_view name);

// The share of its nominal rate that a link keeps when it is cut to `factor`: not below 1e-6, as
// an engine takes a rate of 0 for unlimited. Requires: factor in [0, 1]; else std::invalid_argument.
double usable_rate_factor(double factor);

}  // namespace sim::engine

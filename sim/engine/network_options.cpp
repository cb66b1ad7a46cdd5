// sim/engine/network_options.cpp: see network_options.h.
#include "sim/engine/network_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace sim::engine {

std::uint16_t region_index(const NetworkOptions& options, std::string_view name) {
  for (std::size_t i = 0; i < options.regions.size(); ++i) {
    if (options.regions[i].name == name) return static_cast<std::uint16_t>(i);
  }
  throw std::invalid_argument(fmt::format("no region is called '{}'", name));
}

double usable_rate_factor(double factor) {
  if (!(factor >= 0.0 && factor <= 1.0)) {
    throw std::invalid_argument(fmt::format("a rate factor must be in [0, 1]; got {}", factor));
  }
  return std::max(factor, 1e-6);
}

}  // namespace sim::engine

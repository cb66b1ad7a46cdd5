// sim/methods/host_copies.cpp: see host_copies.h.
#include "sim/methods/host_copies.h"

#include <algorithm>

namespace sim::methods {

bool HostCopies::any_holds(std::uint64_t total_steps) const {
  return std::ranges::find(last_step_, total_steps) != last_step_.end();
}

std::uint64_t& HostCopies::at(std::uint32_t slice) {
  const auto found = std::ranges::lower_bound(slices_, slice);
  return last_step_[static_cast<std::size_t>(found - slices_.begin())];
}

}  // namespace sim::methods

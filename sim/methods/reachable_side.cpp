// sim/methods/reachable_side.cpp: see reachable_side.h.
#include "sim/methods/reachable_side.h"

#include <algorithm>

namespace sim::methods {
namespace {

// Takes out of `left` the first region and all that it reaches.
std::vector<std::uint16_t> take_first_side(const engine::Transport& transport, ChipsIn& left) {
  std::vector<std::uint16_t> side = {left.begin()->first};
  left.erase(left.begin());
  for (std::size_t i = 0; i < side.size(); ++i) {
    std::erase_if(left, [&, from = side[i]](const auto& region) {
      const bool reached = transport.reachable(from, region.first);
      if (reached) side.push_back(region.first);
      return reached;
    });
  }
  std::ranges::sort(side);
  return side;
}

}  // namespace

std::vector<std::uint16_t> largest_side(const engine::Transport& transport, const ChipsIn& chips) {
  ChipsIn left = chips;
  std::erase_if(left, [&](const auto& region) { return !transport.region_up(region.first); });
  std::vector<std::uint16_t> largest;
  std::int64_t most = 0;
  while (!left.empty()) {
    std::vector<std::uint16_t> side = take_first_side(transport, left);
    std::int64_t count = 0;
    for (const std::uint16_t region : side) count += chips.at(region);
    if (count <= most) continue;
    most = count;
    largest = std::move(side);
  }
  return largest;
}

}  // namespace sim::methods

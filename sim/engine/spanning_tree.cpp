// sim/engine/spanning_tree.cpp: see spanning_tree.h.
#include "sim/engine/spanning_tree.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace sim::engine {
namespace {

using Regions = std::vector<std::uint16_t>;

std::vector<Regions> widest_tree(const NetworkView& view) {
  std::vector<LinkState> links = view.links;
  std::ranges::sort(links, {}, [](const LinkState& link) {
    const auto [low, high] = std::minmax(link.region_a, link.region_b);
    return std::tuple(-link.bytes_per_s, link.one_way, low, high);
  });
  Regions group(view.region_count);
  std::iota(group.begin(), group.end(), std::uint16_t{0});
  std::vector<Regions> neighbours(view.region_count);
  for (const LinkState& link : links) {
    const std::uint16_t joined = group[link.region_a], other = group[link.region_b];
    if (joined == other) continue;
    std::ranges::replace(group, other, joined);
    neighbours[link.region_a].push_back(link.region_b);
    neighbours[link.region_b].push_back(link.region_a);
  }
  for (Regions& ends : neighbours) std::ranges::sort(ends);
  return neighbours;
}

class Walk {
 public:
  Walk(const std::vector<Regions>& neighbours, const Regions& members)
      : neighbours_(neighbours), is_member_(neighbours.size(), false) {
    for (const std::uint16_t member : members) is_member_[member] = true;
  }

  std::vector<Regions> from(std::uint16_t first) {
    leg_ = {first};
    visit(first, first);
    legs_.push_back(leg_);
    return std::move(legs_);
  }

 private:
  bool leads_to_member(std::uint16_t region, std::uint16_t from) const {
    return is_member_[region] ||
           std::ranges::any_of(neighbours_[region], [&](std::uint16_t next) {
             return next != from && leads_to_member(next, region);
           });
  }

  void visit(std::uint16_t region, std::uint16_t from) {
    for (const std::uint16_t next : neighbours_[region]) {
      if (next == from || !leads_to_member(next, region)) continue;
      leg_.push_back(next);
      if (is_member_[next]) {
        legs_.push_back(std::move(leg_));
        leg_ = {next};
      }
      visit(next, region);
      leg_.push_back(region);
    }
  }

  const std::vector<Regions>& neighbours_;
  std::vector<bool> is_member_;  // (regions)
  std::vector<Regions> legs_;
  Regions leg_;  // since the last member that was met for the first time
};

}  // namespace

std::vector<Regions> walk_round_tree(const NetworkView& view, const Regions& members) {
  return Walk(widest_tree(view), members).from(members.front());
}

}  // namespace sim::engine

// sim/engine/network_view.cpp: see network_view.h.
#include "sim/engine/network_view.h"

#include <algorithm>
#include <compare>
#include <limits>
#include <numeric>
#include <utility>

namespace sim::engine {
namespace {

std::uint16_t other_end(const LinkState& link, std::uint16_t region) {
  return link.region_a == region ? link.region_b : link.region_a;
}

struct Distance {
  Nanoseconds delay = base::kNever;
  std::size_t hops = SIZE_MAX;
  auto operator<=>(const Distance&) const = default;
};

// The open region of the best key, or none: regions are few, a heap would not pay.
template <class Key, class Better>
std::size_t best_open(const std::vector<Key>& keys, const std::vector<bool>& closed, const Key& none,
                      Better better) {
  std::size_t best = SIZE_MAX;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (closed[i] || keys[i] == none) continue;
    if (best == SIZE_MAX || better(keys[i], keys[best])) best = i;
  }
  return best;
}

}  // namespace

NetworkView nominal_view(const NetworkOptions& options) {
  NetworkView view{options.regions.size(), {}};
  for (const LinkOptions& link : options.links) {
    view.links.push_back({region_index(options, link.region_a), region_index(options, link.region_b),
                          link.bytes_per_s, link.rtt / 2});
  }
  return view;
}

std::vector<std::uint16_t> connected_groups(const NetworkView& view) {
  std::vector<std::uint16_t> group(view.region_count);
  std::iota(group.begin(), group.end(), std::uint16_t{0});
  const auto root = [&group](std::uint16_t region) {
    while (group[region] != region) region = group[region] = group[group[region]];
    return region;
  };
  for (const LinkState& link : view.links) {
    const auto [low, high] = std::minmax({root(link.region_a), root(link.region_b)});
    group[high] = low;
  }
  for (std::size_t i = 0; i < group.size(); ++i) group[i] = root(static_cast<std::uint16_t>(i));
  return group;
}

PathFinder::PathFinder(NetworkView view) : view_(std::move(view)), links_of_(view_.region_count) {
  for (std::uint32_t i = 0; i < view_.links.size(); ++i) {
    links_of_[view_.links[i].region_a].push_back(i);
    links_of_[view_.links[i].region_b].push_back(i);
  }
  for (std::size_t region = 0; region < links_of_.size(); ++region) {
    std::ranges::sort(links_of_[region], {}, [&](std::uint32_t index) {
      return other_end(view_.links[index], static_cast<std::uint16_t>(region));
    });
  }
}

const LinkState* PathFinder::link(std::uint16_t region_a, std::uint16_t region_b) const {
  const auto& links = links_of_.at(region_a);
  const auto end = [&](std::uint32_t index) { return other_end(view_.links[index], region_a); };
  const auto found = std::ranges::lower_bound(links, region_b, {}, end);
  return found == links.end() || end(*found) != region_b ? nullptr : &view_.links[*found];
}

double PathFinder::bottleneck(std::uint16_t source, std::uint16_t target) const {
  std::vector<double> width(view_.region_count, 0.0);
  std::vector<bool> closed(view_.region_count, false);
  width[source] = std::numeric_limits<double>::infinity();
  for (;;) {
    const std::size_t at = best_open(width, closed, 0.0, std::greater<>());
    if (at == SIZE_MAX || at == target) return width[target];
    closed[at] = true;
    for (const std::uint32_t index : links_of_[at]) {
      double& there = width[other_end(view_.links[index], static_cast<std::uint16_t>(at))];
      there = std::max(there, std::min(width[at], view_.links[index].bytes_per_s));
    }
  }
}

// Among the links that are as wide as the bottleneck, the distances to the target; then from the
// source on always to the first region that is nearest.
Path PathFinder::widest(std::uint16_t source, std::uint16_t target) const {
  const double width = bottleneck(source, target);
  if (width == 0.0) return {};
  std::vector<Distance> distance(view_.region_count);
  std::vector<bool> closed(view_.region_count, false);
  distance[target] = {0, 0};
  const auto further = [&](std::size_t at, const LinkState& link) {
    return Distance{distance[at].delay + link.one_way, distance[at].hops + 1};
  };
  for (;;) {
    const std::size_t at = best_open(distance, closed, Distance{}, std::less<>());
    if (at == SIZE_MAX) break;
    closed[at] = true;
    for (const std::uint32_t index : links_of_[at]) {
      const LinkState& link = view_.links[index];
      Distance& there = distance[other_end(link, static_cast<std::uint16_t>(at))];
      if (link.bytes_per_s >= width) there = std::min(there, further(at, link));
    }
  }
  Path path{{source}, width, distance[source].delay};
  while (path.regions.back() != target) {
    const std::uint16_t at = path.regions.back();
    for (const std::uint32_t index : links_of_[at]) {
      const LinkState& link = view_.links[index];
      const std::uint16_t next = other_end(link, at);
      if (link.bytes_per_s < width || distance[next].hops == SIZE_MAX ||
          further(next, link) != distance[at]) {
        continue;
      }
      path.regions.push_back(next);
      break;
    }
  }
  return path;
}

Path PathFinder::usual(std::uint16_t source, std::uint16_t target) const {
  const LinkState* direct = link(source, target);
  if (direct == nullptr) return widest(source, target);
  if (direct->cut) {
    Path relay = widest(source, target);
    if (relay.bytes_per_s > kRelayWidthGain * direct->bytes_per_s) return relay;
  }
  return {{source, target}, direct->bytes_per_s, direct->one_way};
}

}  // namespace sim::engine

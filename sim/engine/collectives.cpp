// sim/engine/collectives.cpp: see collectives.h.
#include "sim/engine/collectives.h"

#include <algorithm>
#include <compare>
#include <limits>
#include <stdexcept>

namespace sim::engine {
namespace {

using Ring = std::vector<std::uint16_t>;

constexpr std::size_t kMostRegionsTriedAll = 8;

// How good a closed ring is; the smaller the better.
struct RingCost {
  double slowest_negated;  // bytes/s, sign turned
  Nanoseconds total_delay;
  auto operator<=>(const RingCost&) const = default;
};

constexpr RingCost kNoWay = {std::numeric_limits<double>::infinity(), base::kNever};

RingCost edge_cost(const Transport& transport, std::uint16_t source, std::uint16_t target) {
  if (!transport.reachable(source, target)) return kNoWay;
  return {-transport.link_bytes_per_s(source, target), transport.one_way(source, target)};
}

RingCost ring_cost(const Transport& transport, const Ring& ring) {
  RingCost cost{-std::numeric_limits<double>::infinity(), 0};
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const RingCost edge = edge_cost(transport, ring[i], ring[(i + 1) % ring.size()]);
    if (edge == kNoWay) return kNoWay;
    cost.slowest_negated = std::max(cost.slowest_negated, edge.slowest_negated);
    cost.total_delay += edge.total_delay;
  }
  return cost;
}

class BestSoFar {
 public:
  explicit BestSoFar(const Transport& transport) : transport_(transport) {}
  // Of rings of one cost the first offered stays.
  void offer(const Ring& ring) {
    const RingCost cost = ring_cost(transport_, ring);
    if (!(cost < cost_)) return;
    cost_ = cost;
    ring_ = ring;
  }
  const Ring& ring() const { return ring_; }

 private:
  const Transport& transport_;
  RingCost cost_ = kNoWay;
  Ring ring_;
};

// From the first region always on to the one that is left with the fastest link, then the shortest.
Ring nearest_neighbours(const Transport& transport, Ring regions, std::size_t first) {
  std::swap(regions[0], regions[first]);
  std::sort(regions.begin() + 1, regions.end());
  for (auto at = regions.begin(); at + 1 != regions.end(); ++at) {
    const auto nearest = std::min_element(
        at + 1, regions.end(), [&](std::uint16_t one, std::uint16_t other) {
          return edge_cost(transport, *at, one) < edge_cost(transport, *at, other);
        });
    std::rotate(at + 1, nearest, nearest + 1);  // keeps the others ascending
  }
  std::rotate(regions.begin(), std::ranges::min_element(regions), regions.end());
  return regions;
}

}  // namespace

std::vector<std::uint16_t> best_ring(const Transport& transport,
                                     std::vector<std::uint16_t> regions) {
  std::ranges::sort(regions);
  if (std::ranges::adjacent_find(regions) != regions.end()) {
    throw std::invalid_argument("best ring: a region twice");
  }
  if (regions.size() < 2) return regions;
  BestSoFar best(transport);
  if (regions.size() <= kMostRegionsTriedAll) {
    // Turning a ring changes nothing, so its smallest member stays in front; permutations come in
    // lexicographic order.
    do {
      best.offer(regions);
    } while (std::next_permutation(regions.begin() + 1, regions.end()));
  } else {
    for (std::size_t first = 0; first < regions.size(); ++first) {
      best.offer(nearest_neighbours(transport, regions, first));
    }
  }
  return best.ring();
}

std::vector<Hop> ring_hops(const std::vector<std::uint16_t>& ring, std::int64_t payload_bytes) {
  if (ring.size() < 2) return {};
  const auto members = static_cast<std::int64_t>(ring.size());
  // ceil(2 (n-1) payload / n) without the product, which could pass 2^63.
  const std::int64_t whole = payload_bytes / members, rest = payload_bytes % members;
  const std::int64_t bytes =
      2 * (members - 1) * whole + (2 * (members - 1) * rest + members - 1) / members;
  std::vector<Hop> hops;
  for (std::size_t i = 0; i < ring.size(); ++i) {
    hops.push_back({ring[i], ring[(i + 1) % ring.size()], bytes});
  }
  return hops;
}

Nanoseconds ring_extra_latency(const Transport& transport,
                               const std::vector<std::uint16_t>& ring) {
  if (ring.size() < 2) return 0;
  std::vector<Nanoseconds> delays;
  for (std::size_t i = 0; i < ring.size(); ++i) {
    delays.push_back(transport.one_way(ring[i], ring[(i + 1) % ring.size()]));
  }
  // A message handed on 2(n-1) times goes round twice less two neighbouring edges; the slowest chain
  // is the one that leaves out the two shortest. Each hop waits for its own delay at the same time.
  Nanoseconds round = 0, longest = 0, shortest_two = base::kNever;
  for (std::size_t i = 0; i < delays.size(); ++i) {
    round += delays[i];
    longest = std::max(longest, delays[i]);
    shortest_two = std::min(shortest_two, delays[i] + delays[(i + 1) % delays.size()]);
  }
  return 2 * round - shortest_two - longest;
}

Nanoseconds local_all_reduce(const RegionOptions& region, std::size_t members,
                             std::int64_t payload_bytes) {
  if (members < 2) return 0;
  const auto count = static_cast<double>(members);
  const double seconds =
      2.0 * (count - 1.0) / count * static_cast<double>(payload_bytes) / region.fabric_bytes_per_s;
  return base::from_seconds(seconds) +
         2 * static_cast<Nanoseconds>(members - 1) * region.fabric_latency;
}

}  // namespace sim::engine

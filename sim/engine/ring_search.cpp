// sim/engine/ring_search.cpp: see ring_search.h.
#include "sim/engine/ring_search.h"

#include <algorithm>
#include <numeric>

#include "sim/engine/ring_threshold.h"

namespace sim::engine {
namespace {

// Of every edge alone.
class EdgeCosts {
 public:
  EdgeCosts(const EdgeTable& table, std::int64_t edge_bytes)
      : count_(table.member_count), costs_(table.crossings.size()) {
    for (std::size_t i = 0; i < costs_.size(); ++i) {
      if (table.crossings[i].empty()) continue;
      costs_[i] = {0, 0};
      for (const std::uint32_t index : table.crossings[i]) {
        const Lane& lane = table.lanes[index];
        const double seconds = static_cast<double>(edge_bytes) / lane.bytes_per_s;
        costs_[i].carrying = std::max(costs_[i].carrying, base::from_seconds(seconds));
        costs_[i].delay += lane.one_way;
      }
      shortest_edge_ = std::min(shortest_edge_, costs_[i].delay);
    }
  }

  bool exists(std::size_t from, std::size_t to) const {
    return at(from, to).carrying < base::kNever;
  }
  Nanoseconds delay(std::size_t from, std::size_t to) const { return at(from, to).delay; }
  Nanoseconds shortest_edge() const { return shortest_edge_; }

  // Of the ring if no lane is crossed twice: it never takes less. kNever: an edge is missing.
  Nanoseconds unshared_time(const RingOrder& ring) const {
    Nanoseconds carrying = 0, round = 0, shortest_two = base::kNever;
    for (std::size_t i = 0; i < ring.size(); ++i) {
      const std::size_t next = ring[(i + 1) % ring.size()], after = ring[(i + 2) % ring.size()];
      if (!exists(ring[i], next)) return base::kNever;
      const Cost& edge = at(ring[i], next);
      carrying = std::max(carrying, edge.carrying);
      round += edge.delay;
      shortest_two = std::min(shortest_two, edge.delay + delay(next, after));
    }
    return carrying + 2 * round - shortest_two;
  }

 private:
  struct Cost {
    Nanoseconds carrying = base::kNever, delay = 0;
  };
  const Cost& at(std::size_t from, std::size_t to) const { return costs_[from * count_ + to]; }

  std::size_t count_;
  std::vector<Cost> costs_;  // (members x members)
  Nanoseconds shortest_edge_ = base::kNever;
};

// All rings, depth first and in lexicographic order, cut where what stands cannot get below the best.
class AllRings {
 public:
  AllRings(const EdgeTable& table, std::int64_t edge_bytes)
      : table_(table), edge_bytes_(edge_bytes), costs_(table, edge_bytes),
        load_(table.lanes.size(), 0), is_used_(table.member_count, false) {}

  RingOrder best() {
    path_ = {0};
    is_used_[0] = true;
    extend({0, 0, base::kNever});
    return best_;
  }

 private:
  struct Partial {
    Nanoseconds carrying;    // of the fullest lane so far
    Nanoseconds round;       // sum of the delays so far
    Nanoseconds two_edges;   // least of two neighbouring delays so far
  };

  Partial with_edge(Partial before, std::size_t from, std::size_t to) {
    for (const std::uint32_t index : table_.crossing(from, to)) {
      const Lane& lane = table_.lanes[index];
      const double bytes = static_cast<double>(++load_[index]) * static_cast<double>(edge_bytes_);
      before.carrying = std::max(before.carrying, base::from_seconds(bytes / lane.bytes_per_s));
    }
    before.round += costs_.delay(from, to);
    if (path_.size() > 1) {
      const Nanoseconds last = costs_.delay(path_[path_.size() - 2], from);
      before.two_edges = std::min(before.two_edges, last + costs_.delay(from, to));
    }
    return before;
  }

  void without_edge(std::size_t from, std::size_t to) {
    for (const std::uint32_t index : table_.crossing(from, to)) --load_[index];
  }

  // No ring that begins with the path takes less than this.
  Nanoseconds least_time(const Partial& partial, std::size_t edges_left) const {
    if (partial.two_edges == base::kNever) return 0;
    const auto left = static_cast<Nanoseconds>(edges_left);
    return partial.carrying + 2 * (partial.round + left * costs_.shortest_edge()) -
           partial.two_edges;
  }

  void extend(const Partial& partial) {
    const std::size_t count = table_.member_count;
    if (path_.size() == count) return close();
    for (std::size_t next = 1; next < count; ++next) {
      const std::size_t at = path_.back();
      if (is_used_[next] || !costs_.exists(at, next)) continue;
      const Partial longer = with_edge(partial, at, next);
      if (least_time(longer, count - path_.size()) < best_time_) {
        is_used_[next] = true;
        path_.push_back(static_cast<std::uint16_t>(next));
        extend(longer);
        path_.pop_back();
        is_used_[next] = false;
      }
      without_edge(at, next);
    }
  }

  // A ring and its reverse are one: of the two the first in order is offered.
  void close() {
    if (path_.size() > 2 && path_[1] > path_.back()) return;
    if (costs_.unshared_time(path_) >= best_time_) return;
    const Nanoseconds time = ring_time(table_, path_, edge_bytes_);
    if (time >= best_time_) return;
    best_time_ = time;
    best_ = path_;
  }

  const EdgeTable& table_;
  std::int64_t edge_bytes_;
  EdgeCosts costs_;
  std::vector<std::int32_t> load_;  // (lanes), edges that cross it
  std::vector<bool> is_used_;       // (members)
  RingOrder path_, best_;
  Nanoseconds best_time_ = base::kNever;
};

// From one member always on to the one that is left over the widest edge, then the shortest.
RingOrder nearest_neighbours(const EdgeTable& table, const EdgeCosts& costs, std::size_t first) {
  RingOrder ring(table.member_count);
  std::iota(ring.begin(), ring.end(), std::uint16_t{0});
  std::rotate(ring.begin(), ring.begin() + static_cast<std::ptrdiff_t>(first),
              ring.begin() + static_cast<std::ptrdiff_t>(first) + 1);
  for (auto at = ring.begin(); at + 1 != ring.end(); ++at) {
    const auto key = [&](std::uint16_t next) {
      return std::pair(-edge_width(table, *at, next), costs.delay(*at, next));
    };
    const auto nearest = std::ranges::min_element(at + 1, ring.end(), {}, key);
    std::rotate(at + 1, nearest, nearest + 1);
  }
  return ring;
}

// Reverses parts, and moves one to three neighbours elsewhere, as long as that gains (2-opt, Or-opt).
class Improvement {
 public:
  Improvement(const EdgeTable& table, std::int64_t edge_bytes, const EdgeCosts& costs, RingOrder ring)
      : table_(table), edge_bytes_(edge_bytes), costs_(costs), ring_(std::move(ring)),
        time_(ring_time(table, ring_, edge_bytes)) {}

  void run() {
    while (tried_ < kMostTried && one_pass()) {
    }
  }
  const RingOrder& ring() const { return ring_; }
  Nanoseconds time() const { return time_; }

 private:
  using Offset = std::ptrdiff_t;
  static constexpr std::int64_t kMostTried = 300'000;  // about 50 ms

  bool take(const RingOrder& candidate) {
    ++tried_;
    if (costs_.unshared_time(candidate) >= time_) return false;
    const Nanoseconds time = ring_time(table_, candidate, edge_bytes_);
    if (time >= time_) return false;
    time_ = time;
    ring_ = candidate;
    return true;
  }

  bool one_pass() {
    bool gained = false;
    const auto count = static_cast<Offset>(ring_.size());
    RingOrder candidate;
    for (Offset i = 1; i < count; ++i) {
      for (Offset j = i + 1; j < count; ++j) {
        candidate = ring_;
        std::reverse(candidate.begin() + i, candidate.begin() + j + 1);
        gained = take(candidate) || gained;
        for (Offset length = 1; length <= 3 && i + length <= j; ++length) {
          for (const Offset middle : {i + length, j + 1 - length}) {
            candidate = ring_;
            std::rotate(candidate.begin() + i, candidate.begin() + middle,
                        candidate.begin() + j + 1);
            gained = take(candidate) || gained;
          }
        }
      }
    }
    return gained;
  }

  const EdgeTable& table_;
  std::int64_t edge_bytes_;
  const EdgeCosts& costs_;
  RingOrder ring_;
  Nanoseconds time_;
  std::int64_t tried_ = 0;
};

RingOrder improved_rings(const EdgeTable& table, std::int64_t edge_bytes) {
  const EdgeCosts costs(table, edge_bytes);
  std::vector<std::pair<Nanoseconds, RingOrder>> starts;
  const auto offer = [&](RingOrder ring) {
    if (ring.empty() || costs.unshared_time(ring) == base::kNever) return;
    const Nanoseconds time = ring_time(table, ring, edge_bytes);
    starts.emplace_back(time, std::move(ring));
  };
  offer(widest_ring(table));
  constexpr std::size_t kMostFirst = 64;
  for (std::size_t first = 0; first < std::min(kMostFirst, table.member_count); ++first) {
    offer(nearest_neighbours(table, costs, first));
  }
  std::ranges::stable_sort(starts, {}, [](const auto& start) { return start.first; });
  constexpr std::size_t kStarts = 3;
  RingOrder best;
  Nanoseconds best_time = base::kNever;
  for (std::size_t i = 0; i < std::min(kStarts, starts.size()); ++i) {
    Improvement improvement(table, edge_bytes, costs, starts[i].second);
    improvement.run();
    if (improvement.time() >= best_time) continue;
    best_time = improvement.time();
    best = improvement.ring();
  }
  return best;
}

}  // namespace

std::int64_t ring_edge_bytes(std::size_t members, std::int64_t payload_bytes) {
  const auto n = static_cast<std::int64_t>(members);
  // ceil(2 (n-1) payload / n) without the product, which could pass 2^63.
  const std::int64_t whole = payload_bytes / n, rest = payload_bytes % n;
  return 2 * (n - 1) * whole + (2 * (n - 1) * rest + n - 1) / n;
}

std::vector<std::uint32_t> crossed_lanes(const EdgeTable& table, const RingOrder& ring) {
  std::vector<std::uint32_t> crossed;
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const auto& crossing = table.crossing(ring[i], ring[(i + 1) % ring.size()]);
    crossed.insert(crossed.end(), crossing.begin(), crossing.end());
  }
  return crossed;
}

Nanoseconds exchange_time(const std::vector<Lane>& lanes, const std::vector<std::uint32_t>& crossed,
                          std::int64_t edge_bytes, Nanoseconds already) {
  std::vector<std::int32_t> load(lanes.size(), 0);
  Nanoseconds end = 0;
  for (const std::uint32_t index : crossed) {
    const Lane& lane = lanes[index];
    const double bytes = static_cast<double>(++load[index]) * static_cast<double>(edge_bytes);
    end = std::max(end, std::max<Nanoseconds>(0, lane.one_way - already) +
                            base::from_seconds(bytes / lane.bytes_per_s));
  }
  return end;
}

Nanoseconds ring_time(const EdgeTable& table, const RingOrder& ring, std::int64_t edge_bytes) {
  Nanoseconds round = 0, shortest_two = base::kNever;
  std::vector<Nanoseconds> delays;
  for (std::size_t i = 0; i < ring.size(); ++i) {
    delays.push_back(0);
    for (const std::uint32_t lane : table.crossing(ring[i], ring[(i + 1) % ring.size()])) {
      delays.back() += table.lanes[lane].one_way;
    }
    round += delays.back();
  }
  for (std::size_t i = 0; i < delays.size(); ++i) {
    shortest_two = std::min(shortest_two, delays[i] + delays[(i + 1) % delays.size()]);
  }
  const Nanoseconds carrying =
      exchange_time(table.lanes, crossed_lanes(table, ring), edge_bytes, base::kNever);
  return carrying + 2 * round - shortest_two;
}

RingOrder search_ring(const EdgeTable& table, std::int64_t payload_bytes) {
  const std::int64_t edge_bytes = ring_edge_bytes(table.member_count, payload_bytes);
  if (table.member_count <= kMembersTriedAll) return AllRings(table, edge_bytes).best();
  return improved_rings(table, edge_bytes);
}

}  // namespace sim::engine

// sim/engine/ring_threshold.cpp: see ring_threshold.h.
#include "sim/engine/ring_threshold.h"

#include <algorithm>
#include <limits>

namespace sim::engine {
namespace {

using Neighbours = std::vector<RingOrder>;  // of each member, ascending

Neighbours at_least(const EdgeTable& table, double width) {
  Neighbours neighbours(table.member_count);
  for (std::size_t a = 0; a < table.member_count; ++a) {
    for (std::size_t b = 0; b < table.member_count; ++b) {
      if (a != b && edge_width(table, a, b) >= width) {
        neighbours[a].push_back(static_cast<std::uint16_t>(b));
      }
    }
  }
  return neighbours;
}

// A path that grows at its end.
class GrowingPath {
 public:
  GrowingPath(const Neighbours& neighbours, std::uint16_t first)
      : neighbours_(neighbours), place_(neighbours.size(), SIZE_MAX) {
    push(first);
  }

  // Whether it closed.
  bool grow() {
    const std::size_t most_turns = 20 * neighbours_.size();
    for (std::size_t turns = 0; turns < most_turns;) {
      if (extend()) continue;
      if (path_.size() == neighbours_.size() &&
          std::ranges::binary_search(neighbours_[path_.back()], path_.front())) {
        return true;
      }
      if (!turn(turns++)) return false;
    }
    return false;
  }
  const RingOrder& path() const { return path_; }

 private:
  void push(std::uint16_t member) {
    place_[member] = path_.size();
    path_.push_back(member);
  }

  std::size_t ways_left(std::uint16_t member) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        neighbours_[member], [&](std::uint16_t next) { return place_[next] == SIZE_MAX; }));
  }

  // To the neighbour that has fewest ways left, which would be lost otherwise.
  bool extend() {
    std::uint16_t best = 0;
    std::size_t fewest = SIZE_MAX;
    for (const std::uint16_t next : neighbours_[path_.back()]) {
      if (place_[next] != SIZE_MAX) continue;
      const std::size_t ways = ways_left(next);
      if (ways < fewest) {
        fewest = ways;
        best = next;
      }
    }
    if (fewest == SIZE_MAX) return false;
    push(best);
    return true;
  }

  // Turns the part behind a neighbour of the end round: another member is the end then.
  bool turn(std::size_t turns) {
    const RingOrder& ways = neighbours_[path_.back()];
    if (path_.size() < 3 || ways.size() < 2) return false;
    constexpr std::size_t kStride = 7919;  // a prime: which neighbour is turned at changes every time
    std::size_t pick = turns * kStride % ways.size();
    if (place_[ways[pick]] + 2 == path_.size()) pick = (pick + 1) % ways.size();
    const std::size_t pivot = place_[ways[pick]];
    std::reverse(path_.begin() + static_cast<std::ptrdiff_t>(pivot) + 1, path_.end());
    for (std::size_t i = pivot + 1; i < path_.size(); ++i) place_[path_[i]] = i;
    return true;
  }

  const Neighbours& neighbours_;
  std::vector<std::size_t> place_;  // (members), SIZE_MAX: not on the path
  RingOrder path_;
};

RingOrder any_ring(const Neighbours& neighbours) {
  if (std::ranges::any_of(neighbours, [](const auto& ways) { return ways.size() < 2; })) return {};
  // Each start may turn 20 n times at up to n steps of work: fewer starts where there are many members.
  constexpr std::size_t kMostWork = 5'000'000;
  const std::size_t count = neighbours.size();
  const std::size_t starts = std::clamp<std::size_t>(kMostWork / (20 * count * count), 1, count);
  for (std::size_t first = 0; first < starts; ++first) {
    GrowingPath path(neighbours, static_cast<std::uint16_t>(first));
    if (path.grow()) return path.path();
  }
  return {};
}

}  // namespace

double edge_width(const EdgeTable& table, std::size_t from, std::size_t to) {
  const auto& crossing = table.crossing(from, to);
  if (crossing.empty()) return 0.0;
  double width = std::numeric_limits<double>::infinity();
  for (const std::uint32_t lane : crossing) width = std::min(width, table.lanes[lane].bytes_per_s);
  return width;
}

RingOrder widest_ring(const EdgeTable& table) {
  std::vector<double> widths;
  for (std::size_t i = 0; i < table.crossings.size(); ++i) {
    const double width = edge_width(table, i / table.member_count, i % table.member_count);
    if (width > 0.0) widths.push_back(width);
  }
  std::ranges::sort(widths);
  widths.erase(std::unique(widths.begin(), widths.end()), widths.end());
  RingOrder best;
  for (std::size_t low = 0, high = widths.size(); low < high;) {
    const std::size_t middle = low + (high - low) / 2;
    RingOrder ring = any_ring(at_least(table, widths[middle]));
    if (ring.empty()) {
      high = middle;
    } else {
      best = std::move(ring);
      low = middle + 1;
    }
  }
  return best;
}

}  // namespace sim::engine

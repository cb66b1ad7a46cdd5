// sim/engine/network_view.h: what links carry at one moment, as plain values, and the paths over them.
//
// The Transport gives its present state, a scenario its nominal one; whoever plans on it gets the same
// answer from the same view. Two regions without a usable link of their own are joined by a relayed
// path: bytes pass on at once (cut-through), on all hops together.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/time.h"
#include "sim/engine/network_options.h"

namespace sim::engine {

using base::Nanoseconds;

// A link that is up, between regions that are up.
struct LinkState {
  std::uint16_t region_a, region_b;
  double bytes_per_s;    // now, each direction
  Nanoseconds one_way;
  bool cut = false;      // carries less than it was built for
};

struct NetworkView {
  std::size_t region_count = 0;
  std::vector<LinkState> links;  // at most one per pair
};

// Everything up, at full rate. Errors: std::invalid_argument for a link to a region that is not there.
NetworkView nominal_view(const NetworkOptions& options);

// The group of each region: equal for two exactly when links join them, directly or through others.
std::vector<std::uint16_t> connected_groups(const NetworkView& view);

// A cut link is left for a relay that is more than this times as wide (assumed: a relay costs the rate
// of two links, so it must carry twice as much to be no burden).
constexpr double kRelayWidthGain = 2.0;

struct Path {
  std::vector<std::uint16_t> regions;  // from the source to the target; empty: there is none
  double bytes_per_s = 0.0;            // of its narrowest link
  Nanoseconds one_way = 0;             // sum over its links
};

class PathFinder {
 public:
  explicit PathFinder(NetworkView view);

  // The link between two regions, or null.
  const LinkState* link(std::uint16_t region_a, std::uint16_t region_b) const;
  // Of widest bottleneck, then of least delay, then of fewest hops, then the lexicographically first.
  // Requires: two regions.
  Path widest(std::uint16_t source, std::uint16_t target) const;
  // What a transfer takes: the direct link, unless it is cut and the widest path is more than
  // kRelayWidthGain times as wide; without a link the widest path.
  Path usual(std::uint16_t source, std::uint16_t target) const;

  const NetworkView& view() const { return view_; }

 private:
  // The bottleneck of the widest path; 0: there is none.
  double bottleneck(std::uint16_t source, std::uint16_t target) const;

  NetworkView view_;
  std::vector<std::vector<std::uint32_t>> links_of_;  // (regions), ascending by the other end
};

}  // namespace sim::engine

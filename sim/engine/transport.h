// sim/engine/transport.h: sends bytes between regions and says how it ended, as a value.
//
// The one place through which every byte and every network failure goes. A transfer is a wait for
// the propagation delay and then a flow (between regions), or a wait in closed form (inside a
// region, and for control messages, which have priority over bulk and so do not share with it).
// A failure breaks transfers here, by reading what they still had to carry and cancelling them; the
// engine underneath never sees a failure (facts: 22 traps).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "sim/engine/conductor.h"
#include "sim/engine/flow_network.h"
#include "sim/engine/network_options.h"
#include "sim/tape/tape.h"

namespace sim::engine {

using tape::TrafficClass;
using tape::TransferStatus;

struct Hop {
  std::uint16_t source_region, target_region;
  std::int64_t bytes;
};

class Transport {
 public:
  // Region and link indices are positions in `options`.
  Transport(Conductor& conductor, FlowNetwork& network, const NetworkOptions& options,
            tape::Tape& tape);

  class Exchange;
  // Awaitable of TransferStatus: all hops at once; ends when all are carried (kOk), when the first
  // breaks (its status; the others are cancelled), or at `deadline` (kTimeout). Destroying it while
  // it waits cancels what is in flight (kCancelled on the tape).
  // Facts: TransferStarted and TransferDone for each hop.
  Exchange exchange(std::vector<Hop> hops, TrafficClass traffic, Turn turn,
                    Nanoseconds deadline = base::kNever);
  Exchange send(Hop hop, TrafficClass traffic, Turn turn, Nanoseconds deadline = base::kNever);

  // Faults. Each call states the whole present condition of the resource; what is in flight through
  // it breaks at this date when it goes down. Down regions lose every transfer from or to them.
  void set_region_up(std::uint16_t region, bool up);
  void set_link_up(std::uint16_t region_a, std::uint16_t region_b, bool up);
  void set_link_rate_factor(std::uint16_t region_a, std::uint16_t region_b, double factor);

  bool region_up(std::uint16_t region) const;
  // Both regions up, and the same region or a direct link that is up.
  bool reachable(std::uint16_t source_region, std::uint16_t target_region) const;
  bool has_link(std::uint16_t region_a, std::uint16_t region_b) const;
  double link_bytes_per_s(std::uint16_t region_a, std::uint16_t region_b) const;  // nominal
  Nanoseconds one_way(std::uint16_t region_a, std::uint16_t region_b) const;
  // Duration of one hop alone on its way, everything healthy at its present rate.
  Nanoseconds duration_alone(Hop hop) const;
  // Notified whenever a region or a link comes up again or a rate changes.
  Signal& network_changed() { return changed_; }

  std::size_t in_flight_count() const;

 private:
  // (left to the implementation)
  Signal changed_;
};

}  // namespace sim::engine

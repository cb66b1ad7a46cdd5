// sim/engine/transport.h: sends bytes between regions and says how it ended, as a value.
//
// The one place through which every byte and every network failure goes. A transfer is a wait for
// the propagation delay and then a flow (between regions), or a wait in closed form (inside a
// region, and for control messages, which have priority over bulk and so do not share with it).
// Between regions without a usable link of their own it is relayed, cut-through: a transfer on every
// link of the path, all of which begin when the first byte has crossed the whole path, and the last of
// which to end is the arrival. (So a link that is wider than the narrowest carries the same bytes in a
// shorter time than they take to pass.)
// A failure breaks transfers here, by reading what they still had to carry and cancelling them; the
// engine underneath never sees a failure (facts: 22 traps).
#pragma once

#include <algorithm>
#include <coroutine>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "sim/engine/conductor.h"
#include "sim/engine/flow_network.h"
#include "sim/engine/network_options.h"
#include "sim/engine/network_view.h"
#include "sim/engine/reduce_plan.h"
#include "sim/tape/tape.h"

namespace sim::engine {

using tape::TrafficClass;
using tape::TransferStatus;

// What of a flow had left the source at a date, in whole bytes: rounded down, within [0, bytes]. A
// thousandth of a byte short of a whole one counts as whole, as `left` is a sum of doubles.
std::int64_t whole_bytes_carried(std::int64_t bytes, double left);

class Transport {
 public:
  // Region and link indices are positions in `options`. Takes the conductor's flow listener.
  // Requires: region names that exist, at most one link per pair, positive rates; else
  // std::invalid_argument.
  Transport(Conductor& conductor, FlowNetwork& network, const NetworkOptions& options,
            tape::Tape& tape);
  Transport(const Transport&) = delete;

  class Exchange;
  // Awaitable of TransferStatus: all hops at once; ends when all are carried (kOk), when the first
  // breaks (its status; the others are cancelled), or at `deadline` (kTimeout; an arrival at that
  // very date wins). The process goes on at that date on `turn`. No hops: kOk at once. Regions that
  // no path joins, or that are down at the start: broken at once, nothing carried. The path of a hop
  // is found at the start; when one link of it breaks, the hop does (kPeerDown: one of its two ends
  // is down; else kLinkDown).
  // `left_at`: from when its first byte has been on its way, behind bytes that have just arrived; the
  // propagation delay counts from there, and nothing arrives before now. kNever: from now on.
  // Destroying it while it waits cancels what is in flight (kCancelled on the tape), except when
  // the conductor tears down: what is in flight at the end of the run stays so, without a fact.
  // Facts: TransferStarted and TransferDone for each link that a hop crosses; a broken one's `carried`
  // is what had left the source by then, 0 within the propagation delay. Without a network model no
  // bytes are counted: one transfer of none for each hop.
  Exchange exchange(std::vector<Hop> hops, TrafficClass traffic, Turn turn,
                    Nanoseconds deadline = base::kNever, Nanoseconds left_at = base::kNever);
  Exchange send(Hop hop, TrafficClass traffic, Turn turn, Nanoseconds deadline = base::kNever);

  // Faults. Each call states the whole present condition of the resource; what is in flight through
  // it breaks at this date when it goes down. Down regions lose every transfer from or to them.
  // A factor of 0 is a stall: nothing breaks, and all goes on when the rate comes back; except bulk on a
  // link that new transfers leave for a relay (kRelayWidthGain), which breaks as if the link were down.
  void set_region_up(std::uint16_t region, bool up);
  void set_link_up(std::uint16_t region_a, std::uint16_t region_b, bool up);
  void set_link_rate_factor(std::uint16_t region_a, std::uint16_t region_b, double factor);

  bool region_up(std::uint16_t region) const { return region_is_up_.at(region); }
  // Both regions up, and one region or joined by a path of up links through up regions. Without a
  // network model, where no links are asked for, also two regions that none would ever join.
  bool reachable(std::uint16_t source_region, std::uint16_t target_region) const {
    check_regions(source_region, target_region);
    return group_[source_region] == group_[target_region]
               ? region_is_up_[source_region] && region_is_up_[target_region]
               : model_ == NetworkModel::kNone && never_joined(source_region, target_region);
  }
  // Another number whenever reachable() may give another answer.
  std::uint32_t reachable_number() const { return reachable_number_; }
  bool has_link(std::uint16_t region_a, std::uint16_t region_b) const;
  // Of the link, or of the fabric when both are one region. Requires: a link; else std::logic_error.
  double link_bytes_per_s(std::uint16_t region_a, std::uint16_t region_b) const;  // nominal
  Nanoseconds one_way(std::uint16_t region_a, std::uint16_t region_b) const;
  // Of the path that a transfer would take now, at its present rate; without a network model no delay.
  // Requires: reachable regions; else std::logic_error.
  double path_bytes_per_s(std::uint16_t region_a, std::uint16_t region_b) const;
  Nanoseconds path_one_way(std::uint16_t region_a, std::uint16_t region_b) const;
  // Duration of one hop alone on its path, at its present rate; 0 without a network.
  Nanoseconds duration_alone(Hop hop) const;
  // How an all-reduce of `payload` bytes goes at present; the same plan until something changes.
  // Without a network model a ring in ascending order, of no duration.
  std::shared_ptr<const ReducePlan> plan(const std::vector<std::uint16_t>& members,
                                         std::int64_t payload_bytes) const;
  // Notified whenever a region or a link comes up again or a rate changes.
  Signal& network_changed() { return changed_; }

  // Hops that have started and not ended.
  std::size_t in_flight_count() const { return in_flight_count_; }

 private:
  struct Way {  // a link, or the fabric of a region
    double bytes_per_s;
    Nanoseconds one_way;
    std::uint16_t region_a, region_b;
    double factor = 1.0;
    bool up = true;
  };
  enum class Phase : std::uint8_t {
    kDelay,  // the first byte is on its way; then a flow starts
    kFlow,   // moved by the network
    kTimed,  // delay and duration in closed form
    kEnded,
  };
  struct Part;
  struct FlowOwner {
    FlowId flow;
    Exchange* exchange;
    std::size_t part;
  };

  void begin(Exchange& exchange);
  void begin_part(Exchange& exchange, std::size_t index);
  void start_flow(Exchange& exchange, std::size_t index);
  void flow_ended(FlowId flow);
  void part_arrived(Exchange& exchange, std::size_t index);
  void retime(Exchange& exchange, std::size_t index, const Way& way);
  // Ends what is open of an exchange, each part with the status that `status_of` gives it.
  void close(Exchange& exchange, TransferStatus status,
             const std::function<TransferStatus(const Part&)>& status_of);
  void close_all(Exchange& exchange, TransferStatus status);
  void end_part(Exchange& exchange, std::size_t index, TransferStatus status, std::int64_t carried);
  void finish(Exchange& exchange, TransferStatus status);
  void leave(Exchange& exchange);
  void break_unreachable(Exchange& exchange);
  void break_unreachable_exchanges();
  void break_left_for_relay(const Way& cut);

  std::int64_t carried(const Part& part) const;
  TransferStatus condition_of(const Part& part) const;
  // Puts a part for each link that is crossed in the place of a hop that must be relayed.
  void lay_out(Exchange& exchange) const;
  bool crosses_whole_link(const Hop& hop) const;
  bool never_joined(std::uint16_t region_a, std::uint16_t region_b) const;
  NetworkView present_view() const;
  void forget_paths();
  void refresh_groups();
  const PathFinder& finder() const;
  const Path& path(std::uint16_t region_a, std::uint16_t region_b) const;
  static constexpr std::size_t kNoWay = SIZE_MAX;
  // Requires: regions that exist; else std::logic_error.
  void check_regions(std::uint16_t region_a, std::uint16_t region_b) const {
    if (region_a >= region_count_ || region_b >= region_count_) refuse(std::max(region_a, region_b));
  }
  std::size_t pair_index(std::uint16_t region_a, std::uint16_t region_b) const {
    check_regions(region_a, region_b);
    return region_a * region_count_ + region_b;
  }
  [[noreturn]] static void refuse(std::uint16_t region);
  std::size_t find_way(std::uint16_t region_a, std::uint16_t region_b) const;
  std::size_t way_index(std::uint16_t region_a, std::uint16_t region_b) const;
  const Way& way(const Hop& hop) const;
  Way& link(std::uint16_t region_a, std::uint16_t region_b);

  Conductor& conductor_;
  FlowNetwork& network_;
  tape::Tape& tape_;
  NetworkModel model_;
  std::size_t region_count_;
  std::vector<bool> region_is_up_;         // (regions)
  std::vector<Way> ways_;                  // fabrics, then links
  std::vector<std::size_t> way_of_pair_;   // (regions x regions)
  std::vector<std::uint16_t> group_;       // (regions), connected by what is up
  std::vector<std::uint16_t> whole_group_; // (regions), connected when everything is up
  std::uint32_t reachable_number_ = 0;
  // Worked out when asked for, forgotten at every change.
  using PlanKey = std::pair<std::vector<std::uint16_t>, std::int64_t>;
  mutable std::unique_ptr<PathFinder> finder_;
  mutable std::map<std::pair<std::uint16_t, std::uint16_t>, Path> paths_;
  mutable std::map<PlanKey, std::shared_ptr<const ReducePlan>> plans_;
  std::vector<Exchange*> active_;          // in order of start
  std::vector<FlowOwner> flows_;           // by ascending flow id
  std::uint32_t next_transfer_ = 0;
  std::size_t in_flight_count_ = 0;
  Signal changed_;
};

// One hop of an exchange, or one link of a relayed one.
struct Transport::Part {
  Hop hop;                                   // over one link, or inside a region
  std::uint16_t source_end = 0, target_end = 0;  // of the hop that was asked for
  Nanoseconds one_way = 0;                   // of the whole path
  std::uint32_t transfer = 0;
  Phase phase = Phase::kEnded;
  Nanoseconds start = 0;
  Nanoseconds moving_since = 0;  // kTimed: from when `left` shrinks at bytes_per_s
  double left = 0.0;
  double bytes_per_s = 0.0;
  WakeId wake = {};  // kDelay, kTimed
  FlowId flow = 0;   // kFlow
};

class Transport::Exchange {
 public:
  Exchange(Transport& transport, std::vector<Hop> hops, TrafficClass traffic, Turn turn,
           Nanoseconds deadline, Nanoseconds left_at);
  Exchange(const Exchange&) = delete;
  ~Exchange();
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> handle);
  TransferStatus await_resume() const noexcept { return status_; }

 private:
  friend class Transport;
  Transport& transport_;
  std::vector<Part> parts_;
  std::size_t open_count_ = 0;  // parts that have started and not ended
  TrafficClass traffic_;
  Turn turn_;
  Nanoseconds deadline_, left_at_;
  WakeId process_wake_, deadline_wake_;
  TransferStatus status_ = TransferStatus::kOk;
  bool active_ = false;  // listed in the transport, the process waits
};

inline Transport::Exchange Transport::exchange(std::vector<Hop> hops, TrafficClass traffic,
                                               Turn turn, Nanoseconds deadline,
                                               Nanoseconds left_at) {
  return Exchange(*this, std::move(hops), traffic, turn, deadline, left_at);
}
inline Transport::Exchange Transport::send(Hop hop, TrafficClass traffic, Turn turn,
                                           Nanoseconds deadline) {
  return Exchange(*this, {hop}, traffic, turn, deadline, base::kNever);
}

}  // namespace sim::engine

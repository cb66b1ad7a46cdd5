// sim/engine/transport.cpp: see transport.h.
#include "sim/engine/transport.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace sim::engine {

std::int64_t whole_bytes_carried(std::int64_t bytes, double left) {
  const double carried = std::floor(static_cast<double>(bytes) - left + 1e-3);
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(carried), 0, bytes);
}

Transport::Transport(Conductor& conductor, FlowNetwork& network, const NetworkOptions& options,
                     tape::Tape& tape)
    : conductor_(conductor), network_(network), tape_(tape), model_(options.model),
      region_count_(options.regions.size()), region_is_up_(region_count_, true),
      way_of_pair_(region_count_ * region_count_, kNoWay), changed_(conductor) {
  const auto add = [this](std::size_t a, std::size_t b, Way way) {
    std::size_t& place = way_of_pair_[a * region_count_ + b];
    if (place != kNoWay) throw std::invalid_argument("transport: two links between one pair of regions");
    if (!(way.bytes_per_s > 0.0)) throw std::invalid_argument("transport: a rate must be positive");
    place = way_of_pair_[b * region_count_ + a] = ways_.size();
    way.region_a = static_cast<std::uint16_t>(a);
    way.region_b = static_cast<std::uint16_t>(b);
    ways_.push_back(way);
  };
  for (std::size_t i = 0; i < region_count_; ++i) {
    const RegionOptions& region = options.regions[i];
    add(i, i, {.bytes_per_s = region.fabric_bytes_per_s, .one_way = region.fabric_latency, .region_a = 0, .region_b = 0});
  }
  for (const LinkOptions& link : options.links) {
    add(region_index(options, link.region_a), region_index(options, link.region_b),
        {.bytes_per_s = link.bytes_per_s, .one_way = link.rtt / 2, .region_a = 0, .region_b = 0});
  }
  refresh_groups();
  whole_group_ = group_;
  conductor_.on_flow_end([this](FlowId flow) { flow_ended(flow); });
}

// --- An exchange from its start to its end ---

Transport::Exchange::Exchange(Transport& transport, std::vector<Hop> hops, TrafficClass traffic,
                              Turn turn, Nanoseconds deadline, Nanoseconds left_at)
    : transport_(transport), traffic_(traffic), turn_(turn), deadline_(deadline),
      left_at_(left_at) {
  parts_.reserve(hops.size());
  for (const Hop& hop : hops) {
    if (hop.bytes < 0) throw std::logic_error("transport: a hop of less than no bytes");
    parts_.push_back({.hop = hop, .source_end = hop.source_region, .target_end = hop.target_region});
  }
}

Transport::Exchange::~Exchange() {
  // An exchange that has just ended has a wake-up pending until its turn of the date: a fault of the
  // same date may kill the process before it.
  transport_.conductor_.cancel(process_wake_);
  if (!active_) return;
  if (transport_.conductor_.tearing_down()) {
    transport_.leave(*this);
  } else {
    transport_.close_all(*this, TransferStatus::kCancelled);
  }
}

void Transport::Exchange::await_suspend(std::coroutine_handle<> handle) {
  process_wake_ = transport_.conductor_.wake_at(base::kNever, turn_, handle);
  transport_.begin(*this);
}

void Transport::begin(Exchange& exchange) {
  exchange.active_ = true;
  active_.push_back(&exchange);
  lay_out(exchange);
  exchange.open_count_ = exchange.parts_.size();
  in_flight_count_ += exchange.open_count_;
  const std::uint32_t first_transfer = next_transfer_;
  for (Part& part : exchange.parts_) {
    part.transfer = next_transfer_++;
    part.start = conductor_.now();
    part.phase = Phase::kDelay;
    part.left = static_cast<double>(part.hop.bytes);
    tape_.append({part.start, tape::TransferStarted{part.hop.bytes, part.transfer,
                                                    first_transfer, part.hop.source_region,
                                                    part.hop.target_region, exchange.traffic_}});
  }
  break_unreachable(exchange);
  for (std::size_t i = 0; i < exchange.parts_.size() && exchange.active_; ++i) {
    begin_part(exchange, i);
  }
  if (exchange.parts_.empty()) finish(exchange, TransferStatus::kOk);
  if (exchange.active_ && exchange.deadline_ < base::kNever) {
    // After the arrivals of that date, whatever the turn of the process is.
    exchange.deadline_wake_ =
        conductor_.call_at(exchange.deadline_, {Priority::kDecision, exchange.turn_.order},
                           [&exchange] {
                             exchange.transport_.close_all(exchange, TransferStatus::kTimeout);
                           });
  }
}

void Transport::begin_part(Exchange& exchange, std::size_t index) {
  Part& part = exchange.parts_[index];
  if (model_ == NetworkModel::kNone) {
    part_arrived(exchange, index);
    return;
  }
  const Way& path = way(part.hop);
  const Nanoseconds now = conductor_.now();
  part.moving_since = std::max(now, std::min(now, exchange.left_at_) + part.one_way);
  const bool closed_form = part.hop.source_region == part.hop.target_region ||
                           exchange.traffic_ == TrafficClass::kControl || part.hop.bytes == 0;
  if (closed_form) {
    part.phase = Phase::kTimed;
    retime(exchange, index, path);
  } else if (part.moving_since == now) {
    start_flow(exchange, index);
  } else {
    part.wake = conductor_.call_at(
        part.moving_since, {Priority::kArrival, exchange.turn_.order},
        [&exchange, index] { exchange.transport_.start_flow(exchange, index); });
  }
}

void Transport::start_flow(Exchange& exchange, std::size_t index) {
  Part& part = exchange.parts_[index];
  part.phase = Phase::kFlow;
  part.flow = network_.start(conductor_.now(), part.hop.source_region, part.hop.target_region,
                             part.hop.bytes);
  flows_.push_back({part.flow, &exchange, index});
}

void Transport::flow_ended(FlowId flow) {
  const auto owner = std::ranges::lower_bound(flows_, flow, {}, &FlowOwner::flow);
  if (owner == flows_.end() || owner->flow != flow) throw std::logic_error("transport: whose flow?");
  const FlowOwner found = *owner;
  flows_.erase(owner);
  part_arrived(*found.exchange, found.part);
}

void Transport::part_arrived(Exchange& exchange, std::size_t index) {
  end_part(exchange, index, TransferStatus::kOk, exchange.parts_[index].hop.bytes);
  if (exchange.open_count_ == 0) finish(exchange, TransferStatus::kOk);
}

// The date of arrival of a part in closed form, from what it still has to carry and the way's rate.
void Transport::retime(Exchange& exchange, std::size_t index, const Way& path) {
  Part& part = exchange.parts_[index];
  const Nanoseconds now = conductor_.now();
  if (now > part.moving_since) {
    const double moved = part.bytes_per_s * base::to_seconds(now - part.moving_since);
    part.left = std::max(0.0, part.left - moved);
    part.moving_since = now;
  }
  part.bytes_per_s = path.bytes_per_s * path.factor;
  conductor_.cancel(part.wake);
  part.wake = conductor_.call_at(
      part.moving_since + base::from_seconds(part.left / part.bytes_per_s),
      {Priority::kArrival, exchange.turn_.order},
      [&exchange, index] { exchange.transport_.part_arrived(exchange, index); });
}

void Transport::close_all(Exchange& exchange, TransferStatus status) {
  close(exchange, status, [status](const Part&) { return status; });
}

void Transport::close(Exchange& exchange, TransferStatus status,
                      const std::function<TransferStatus(const Part&)>& status_of) {
  for (std::size_t i = 0; i < exchange.parts_.size(); ++i) {
    const Part& part = exchange.parts_[i];
    if (part.phase == Phase::kEnded) continue;
    const std::int64_t left_the_source = carried(part);  // read before the flow is cancelled
    if (part.phase == Phase::kFlow) {
      network_.cancel(part.flow);
      flows_.erase(std::ranges::lower_bound(flows_, part.flow, {}, &FlowOwner::flow));
    }
    end_part(exchange, i, status_of(part), left_the_source);
  }
  finish(exchange, status);
}

void Transport::finish(Exchange& exchange, TransferStatus status) {
  exchange.status_ = status;
  leave(exchange);
  exchange.process_wake_ = conductor_.bring_forward(exchange.process_wake_, exchange.turn_);
}

void Transport::end_part(Exchange& exchange, std::size_t index, TransferStatus status,
                         std::int64_t carried_bytes) {
  Part& part = exchange.parts_[index];
  conductor_.cancel(part.wake);
  part.phase = Phase::kEnded;
  --exchange.open_count_;
  --in_flight_count_;
  tape_.append({conductor_.now(),
                tape::TransferDone{part.hop.bytes, carried_bytes, part.start, part.transfer,
                                   part.hop.source_region, part.hop.target_region,
                                   exchange.traffic_, status}});
}

// Takes the exchange off all lists; its open parts, if any, stay open on the tape.
void Transport::leave(Exchange& exchange) {
  exchange.active_ = false;
  if (exchange.open_count_ > 0) {
    for (const Part& part : exchange.parts_) conductor_.cancel(part.wake);
    std::erase_if(flows_, [&](const FlowOwner& owner) { return owner.exchange == &exchange; });
  }
  conductor_.cancel(exchange.deadline_wake_);
  active_.erase(std::ranges::find(active_, &exchange));
}

std::int64_t Transport::carried(const Part& part) const {
  if (part.phase == Phase::kFlow) {
    return whole_bytes_carried(part.hop.bytes, network_.remaining(part.flow));
  }
  const Nanoseconds moving = conductor_.now() - part.moving_since;
  if (part.phase == Phase::kDelay || moving <= 0) {
    return whole_bytes_carried(part.hop.bytes, part.left);
  }
  return whole_bytes_carried(part.hop.bytes,
                             part.left - part.bytes_per_s * base::to_seconds(moving));
}

// --- Faults ---

void Transport::set_region_up(std::uint16_t region, bool up) {
  const bool before = region_is_up_.at(region);
  region_is_up_[region] = up;
  refresh_groups();
  if (up && !before) changed_.notify();
  if (!up && before) break_unreachable_exchanges();
}

void Transport::set_link_up(std::uint16_t region_a, std::uint16_t region_b, bool up) {
  const bool before = std::exchange(link(region_a, region_b).up, up);
  refresh_groups();
  if (up && !before) changed_.notify();
  if (!up && before) break_unreachable_exchanges();
}

void Transport::set_link_rate_factor(std::uint16_t region_a, std::uint16_t region_b,
                                     double factor) {
  Way& path = link(region_a, region_b);
  const double usable = usable_rate_factor(factor);
  if (usable == path.factor) return;
  path.factor = usable;
  forget_paths();
  network_.set_rate_factor(region_a, region_b, usable);
  for (Exchange* exchange : active_) {
    for (std::size_t i = 0; i < exchange->parts_.size(); ++i) {
      const Part& part = exchange->parts_[i];
      if (part.phase == Phase::kTimed && &way(part.hop) == &path) retime(*exchange, i, path);
    }
  }
  break_left_for_relay(path);
  changed_.notify();
}

// A milder fault must not cost more than a harsher one: bulk that would crawl over a link which is cut so
// far that new transfers leave it is broken as by a link that is down, and may be tried on another way.
void Transport::break_left_for_relay(const Way& cut) {
  if (cut.factor == 1.0 || !cut.up) return;
  const auto crawls = [&](const Part& part) {
    return (part.phase == Phase::kDelay || part.phase == Phase::kFlow) && &way(part.hop) == &cut;
  };
  const std::vector<Exchange*> active = active_;  // breaking one takes it off the list
  for (Exchange* exchange : active) {
    if (std::ranges::none_of(exchange->parts_, crawls)) continue;
    if (finder().usual(cut.region_a, cut.region_b).regions.size() == 2) return;
    close(*exchange, TransferStatus::kLinkDown, [&](const Part& part) {
      return &way(part.hop) == &cut ? TransferStatus::kLinkDown : TransferStatus::kCancelled;
    });
  }
}

void Transport::break_unreachable_exchanges() {
  const std::vector<Exchange*> active = active_;  // breaking one takes it off the list
  for (Exchange* exchange : active) break_unreachable(*exchange);
}

void Transport::break_unreachable(Exchange& exchange) {
  for (const Part& part : exchange.parts_) {
    if (part.phase == Phase::kEnded) continue;
    const TransferStatus condition = condition_of(part);
    if (condition == TransferStatus::kOk) continue;
    close(exchange, condition, [this](const Part& other) {
      const TransferStatus own = condition_of(other);
      return own == TransferStatus::kOk ? TransferStatus::kCancelled : own;
    });
    return;
  }
}

}  // namespace sim::engine

// sim/engine/simgrid_network.cpp: flows that share links max-min, moved by SimGrid.
//
// The only file that includes SimGrid. One actor, on a host that nothing can fail, runs the body;
// flows are asynchronous direct communications on which it waits with a bound. Settings and what
// they avoid:
// - CM02, a TCP window without bound, no cross traffic, links without latency: sharing is exactly
//   max-min and a flow alone takes bytes / rate. (The defaults give one flow 11 % of a 60 ms pipe.)
// - each link's capacity goes through a callback that reads its rate factor, because a plain
//   change of bandwidth never lifts a running flow above the rate at which it started.
// - no host or link is ever turned off, no activity has a timeout of its own: the Transport cancels.
#include <simgrid/s4u.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <optional>
#include <stdexcept>
#include <utility>
#include <xbt/log.h>

#include "sim/engine/flow_network.h"

namespace sim::engine {
namespace {

namespace s4u = simgrid::s4u;

// SimGrid replaces handlers when the engine is made; ours must be the ones that stay.
class KeptSignalHandlers {
 public:
  KeptSignalHandlers() {
    for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], nullptr, &before_[i]);
  }
  KeptSignalHandlers(const KeptSignalHandlers&) = delete;
  ~KeptSignalHandlers() {
    for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_[i], nullptr);
  }

 private:
  static constexpr std::array kSignals = {SIGINT, SIGTERM, SIGSEGV, SIGABRT, SIGPIPE};
  std::array<struct sigaction, kSignals.size()> before_;
};

class SimgridNetwork : public FlowNetwork {
 public:
  explicit SimgridNetwork(const NetworkOptions& options);

  void run(const std::function<void()>& body) override;
  FlowId start(Nanoseconds now, std::uint16_t source_region, std::uint16_t target_region,
               std::int64_t bytes) override;
  double remaining(FlowId flow) override;
  void cancel(FlowId flow) override;
  void set_rate_factor(std::uint16_t region_a, std::uint16_t region_b, double factor) override;
  bool any_in_flight() const override { return !flows_.empty(); }
  Nanoseconds wait_until(Nanoseconds date, std::vector<FlowId>& ended) override;

 private:
  struct Link {
    std::uint16_t region_a, region_b;
    double bytes_per_s;
    double factor = 1.0;
    s4u::Link* duplex = nullptr;  // both directions; none before run()
  };
  struct Flow {
    FlowId id;
    Link* link;
    Nanoseconds no_end_before;  // a date before which it cannot end, whatever the others do
  };

  void create_platform();
  Link& link_between(std::uint16_t region_a, std::uint16_t region_b);
  std::size_t position(FlowId flow) const;
  void forget(std::size_t position);
  Nanoseconds earliest_end(Nanoseconds now, const Link& link, double bytes) const;
  void collect_ended(Nanoseconds now, std::vector<FlowId>& ended);

  std::size_t region_count_;
  std::vector<Link> links_;                 // (links), never resized: callbacks point into it
  std::vector<std::int32_t> link_of_pair_;  // (regions x regions), -1: none
  std::vector<s4u::Host*> hosts_;           // (regions + 1), the last for the actor
  std::vector<Flow> flows_;            // in flight, by ascending id
  std::vector<s4u::CommPtr> comms_;    // theirs, at the same positions
  FlowId next_flow_ = 1;
};

SimgridNetwork::SimgridNetwork(const NetworkOptions& options)
    : region_count_(options.regions.size()), link_of_pair_(region_count_ * region_count_, -1) {
  for (const LinkOptions& link : options.links) {
    const std::uint16_t a = region_index(options, link.region_a);
    const std::uint16_t b = region_index(options, link.region_b);
    link_of_pair_[a * region_count_ + b] = link_of_pair_[b * region_count_ + a] =
        static_cast<std::int32_t>(links_.size());
    links_.push_back({.region_a = a, .region_b = b, .bytes_per_s = link.bytes_per_s});
  }
}

void SimgridNetwork::run(const std::function<void()>& body) {
  static bool engine_was_made = false;
  if (std::exchange(engine_was_made, true)) {
    throw std::logic_error("simgrid network: one engine per process");
  }
  xbt_log_control_set("xbt_cfg.thresh:warning");
  std::string name = "atoll";
  std::array<char*, 2> arguments = {name.data(), nullptr};
  int argument_count = 1;
  std::exception_ptr failure;
  std::optional<KeptSignalHandlers> kept(std::in_place);
  s4u::Engine engine(&argument_count, arguments.data());
  kept.reset();
  s4u::Engine::set_config("network/model:CM02");
  s4u::Engine::set_config("network/TCP-gamma:1e15");
  s4u::Engine::set_config("network/crosstraffic:0");
  create_platform();
  s4u::Actor::create("conductor", hosts_.back(), [&] {
    try {
      body();
      while (!flows_.empty()) cancel(flows_.back().id);
    } catch (const simgrid::ForcefulKillException&) {
      throw;
    } catch (...) {
      failure = std::current_exception();  // must not leave the actor: that aborts
    }
  });
  engine.run();
  if (failure) std::rethrow_exception(failure);
}

// A full zone: one host per region, one split-duplex link per pair that has one, and a host of its
// own for the actor.
void SimgridNetwork::create_platform() {
  s4u::NetZone* zone = s4u::create_full_zone("wan");
  for (std::size_t i = 0; i <= region_count_; ++i) {
    hosts_.push_back(zone->create_host("host-" + std::to_string(i), 1e9));
    hosts_.back()->seal();
  }
  for (std::size_t i = 0; i < links_.size(); ++i) {
    Link& link = links_[i];
    s4u::SplitDuplexLink* duplex =
        zone->create_split_duplex_link("link-" + std::to_string(i), link.bytes_per_s);
    duplex->set_latency(0);  // the propagation delay is the Transport's wait
    duplex->set_sharing_policy(s4u::Link::SharingPolicy::NONLINEAR,
                               [&link](double capacity, int) { return capacity * link.factor; });
    duplex->seal();
    link.duplex = duplex;
    zone->add_route(hosts_[link.region_a]->get_netpoint(), hosts_[link.region_b]->get_netpoint(),
                    nullptr, nullptr, {{duplex, s4u::LinkInRoute::Direction::UP}}, true);
  }
  zone->seal();
}

FlowId SimgridNetwork::start(Nanoseconds now, std::uint16_t source_region,
                             std::uint16_t target_region, std::int64_t bytes) {
  if (bytes <= 0) throw std::logic_error("simgrid network: a flow needs bytes");
  Link& link = link_between(source_region, target_region);
  if (flows_.empty()) {
    const double lag_s = base::to_seconds(now) - s4u::Engine::get_clock();
    if (lag_s > 0.5e-9) s4u::this_actor::sleep_for(lag_s);
  }
  comms_.push_back(s4u::Comm::sendto_async(hosts_[source_region], hosts_[target_region],
                                           static_cast<std::uint64_t>(bytes)));
  flows_.push_back({next_flow_, &link, earliest_end(now, link, static_cast<double>(bytes))});
  return next_flow_++;
}

double SimgridNetwork::remaining(FlowId flow) { return comms_[position(flow)]->get_remaining(); }

void SimgridNetwork::cancel(FlowId flow) {
  const std::size_t at = position(flow);
  comms_[at]->cancel();
  forget(at);
}

void SimgridNetwork::set_rate_factor(std::uint16_t region_a, std::uint16_t region_b,
                                     double factor) {
  Link& link = link_between(region_a, region_b);
  link.factor = usable_rate_factor(factor);
  // The same value again: it only makes the solver ask the callback once more.
  if (any_in_flight()) link.duplex->set_bandwidth(link.bytes_per_s);
}

Nanoseconds SimgridNetwork::wait_until(Nanoseconds date, std::vector<FlowId>& ended) {
  ended.clear();
  if (flows_.empty()) throw std::logic_error("simgrid network: nothing to wait for");
  const double wait_s = base::to_seconds(date) - s4u::Engine::get_clock();
  // A wait of zero or less would mean for ever; the clock may be a fraction of 1 ns ahead.
  if (date >= base::kNever || wait_s > 0.0) {
    const ssize_t first = s4u::Comm::wait_any_for(comms_, date >= base::kNever ? -1.0 : wait_s);
    if (first >= 0) {
      ended.push_back(flows_[static_cast<std::size_t>(first)].id);
      forget(static_cast<std::size_t>(first));
      date = std::min<Nanoseconds>(date, std::llround(s4u::Engine::get_clock() * 1e9));
    }
  }
  collect_ended(date, ended);
  std::ranges::sort(ended);
  return date;
}

// Flows other than the one that woke us whose end rounds to the same nanosecond.
void SimgridNetwork::collect_ended(Nanoseconds now, std::vector<FlowId>& ended) {
  const double rest_of_ns =
      std::clamp((static_cast<double>(now) + 0.5) * 1e-9 - s4u::Engine::get_clock(), 0.0, 1e-9);
  for (std::size_t i = flows_.size(); i-- > 0;) {
    Flow& flow = flows_[i];
    if (flow.no_end_before > now) continue;
    const double left = comms_[i]->get_remaining();
    if (left <= flow.link->bytes_per_s * flow.link->factor * rest_of_ns) {
      ended.push_back(flow.id);
      if (left > 0.0) comms_[i]->cancel();
      forget(i);
    } else {
      flow.no_end_before = earliest_end(now, *flow.link, left);
    }
  }
}

Nanoseconds SimgridNetwork::earliest_end(Nanoseconds now, const Link& link, double bytes) const {
  return now + std::max<Nanoseconds>(base::from_seconds(bytes / link.bytes_per_s) - 1, 0);
}

SimgridNetwork::Link& SimgridNetwork::link_between(std::uint16_t region_a, std::uint16_t region_b) {
  const bool known = region_a < region_count_ && region_b < region_count_;
  const std::int32_t index = known ? link_of_pair_[region_a * region_count_ + region_b] : -1;
  if (index < 0) throw std::logic_error("simgrid network: these regions share no link");
  return links_[static_cast<std::size_t>(index)];
}

std::size_t SimgridNetwork::position(FlowId flow) const {
  const auto found = std::ranges::lower_bound(flows_, flow, {}, &Flow::id);
  if (found == flows_.end() || found->id != flow) {
    throw std::logic_error("simgrid network: the flow is not in flight");
  }
  return static_cast<std::size_t>(found - flows_.begin());
}

void SimgridNetwork::forget(std::size_t position) {
  const auto offset = static_cast<std::ptrdiff_t>(position);
  flows_.erase(flows_.begin() + offset);
  comms_.erase(comms_.begin() + offset);
}

}  // namespace

std::unique_ptr<FlowNetwork> make_simgrid_network(const NetworkOptions& options) {
  return std::make_unique<SimgridNetwork>(options);
}

}  // namespace sim::engine

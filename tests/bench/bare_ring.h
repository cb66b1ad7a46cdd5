// tests/bench/bare_ring.h: the sleeps and flows of a decoupled fleet in plain SimGrid, an actor each.
//
// Eight learners sleep through their steps while every step four flows run round a ring of four
// regions: what a methods' run is measured against. Nothing is decided, counted or written.
#pragma once

#include <fmt/format.h>
#include <simgrid/s4u.hpp>
#include <xbt/log.h>

#include <array>
#include <chrono>
#include <string>
#include <vector>

namespace bench {

struct BareRing {
  std::uint32_t learners, regions;
  double bytes_per_s;       // of each link and direction
  double delay_s;           // before each step's flows
  std::uint64_t hop_bytes;  // of each flow
  std::int64_t steps;       // of one second
};

namespace s4u = simgrid::s4u;

inline std::vector<s4u::Host*> bare_platform(const BareRing& ring) {
  std::vector<s4u::Host*> hosts;
  s4u::NetZone* zone = s4u::create_full_zone("wan");
  for (std::uint32_t i = 0; i < ring.regions; ++i) {
    hosts.push_back(zone->create_host(fmt::format("h{}", i), 1e9));
  }
  for (std::uint32_t i = 0; i < ring.regions; ++i) {
    s4u::SplitDuplexLink* link =
        zone->create_split_duplex_link(fmt::format("l{}", i), ring.bytes_per_s);
    link->set_latency(0.0);
    zone->add_route(hosts[i]->get_netpoint(), hosts[(i + 1) % ring.regions]->get_netpoint(),
                    nullptr, nullptr, {{link, s4u::LinkInRoute::Direction::UP}}, true);
  }
  zone->seal();
  return hosts;
}

inline void ring_each_step(const BareRing& ring, const std::vector<s4u::Host*>& hosts) {
  for (std::int64_t i = 0; i < ring.steps; ++i) {
    s4u::this_actor::sleep_for(ring.delay_s);
    std::vector<s4u::CommPtr> flows;
    for (std::size_t j = 0; j < hosts.size(); ++j) {
      flows.push_back(
          s4u::Comm::sendto_async(hosts[j], hosts[(j + 1) % hosts.size()], ring.hop_bytes));
    }
    while (!flows.empty()) flows.erase(flows.begin() + s4u::Comm::wait_any(flows));
    s4u::this_actor::sleep_until(static_cast<double>(i + 1));
  }
}

// Seconds of wall time. Once per process (the engine).
inline double bare_seconds(const BareRing& ring) {
  xbt_log_control_set("xbt_cfg.thresh:warning");
  std::string name = "bare";
  std::array<char*, 2> arguments = {name.data(), nullptr};
  int count = 1;
  s4u::Engine engine(&count, arguments.data());
  s4u::Engine::set_config("network/model:CM02");
  s4u::Engine::set_config("network/TCP-gamma:1e15");
  s4u::Engine::set_config("network/crosstraffic:0");
  const std::vector<s4u::Host*> hosts = bare_platform(ring);
  for (std::uint32_t i = 0; i < ring.learners; ++i) {
    s4u::Actor::create("learner", hosts[i % ring.regions], [&ring] {
      for (std::int64_t step = 0; step < ring.steps; ++step) s4u::this_actor::sleep_for(1.0);
    });
  }
  s4u::Actor::create("ring", hosts[0], [&ring, &hosts] { ring_each_step(ring, hosts); });
  const auto start = std::chrono::steady_clock::now();
  engine.run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace bench

// tests/bench/engine_bench.cpp: what the conductor and the transport cost, beside a bare SimGrid loop.
//
// Times are only comparable within one run, so the bare program stands beside ours and the ratio is
// printed. Each run is a forked child: one engine per process.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <simgrid/s4u.hpp>
#include <xbt/log.h>

#include <array>
#include <chrono>
#include <string>
#include <vector>

#include "sim/engine/conductor.h"
#include "sim/engine/transport.h"
#include "tests/engine/run_forked.h"

namespace sim::engine {
namespace {

using base::kMillisecond;
using base::kSecond;
namespace s4u = simgrid::s4u;

constexpr std::uint32_t kLearners = 8;
constexpr std::size_t kRegions = 4;
constexpr double kRate = 6.25e8;               // bytes/s
constexpr std::int64_t kHopBytes = 250'000'000;  // 0.4 s of each step
constexpr Nanoseconds kDelay = 30 * kMillisecond;
constexpr std::int64_t kEventsPerStep = kLearners + kRegions;

using WallClock = std::chrono::steady_clock;

double seconds_between(WallClock::time_point start, WallClock::time_point end) {
  return std::chrono::duration<double>(end - start).count();
}

// --- Ours ---

struct Run {
  Conductor& conductor;
  std::int64_t steps;
  std::uint32_t still_running = 0;
  WallClock::time_point start = {}, end = {};
  void one_ended() {
    if (--still_running > 0) return;
    end = WallClock::now();
    conductor.stop();
  }
};

Process learner(Run& run, std::uint32_t index) {
  for (std::int64_t i = 0; i < run.steps; ++i) {
    co_await run.conductor.sleep_for(kSecond, {Priority::kStep, index});
  }
  run.one_ended();
}

Process ring_each_step(Run& run, Transport& transport, std::vector<std::uint16_t> ring) {
  constexpr std::int64_t kPayload = kHopBytes * 4 / 6;
  run.start = WallClock::now();  // the engine exists now
  for (std::int64_t i = 0; i < run.steps; ++i) {
    co_await transport.exchange(transport.plan(ring, kPayload)->hops(kPayload),
                                TrafficClass::kGradient, {});
    co_await run.conductor.sleep_until((i + 1) * kSecond, {});
  }
  run.one_ended();
}

NetworkOptions ring_of_regions() {
  NetworkOptions options{.model = NetworkModel::kSimgrid, .regions = {},
                         .links = {}};
  for (std::size_t i = 0; i < kRegions; ++i) {
    options.regions.push_back({fmt::format("r{}", i), 5e10, base::kMicrosecond});
    options.links.push_back({fmt::format("r{}", i), fmt::format("r{}", (i + 1) % kRegions), kRate,
                             2 * kDelay});
  }
  return options;
}

double our_seconds(std::int64_t steps) {
  return run_forked([steps] {
    const NetworkOptions options = ring_of_regions();
    const std::unique_ptr<FlowNetwork> network = make_network(options);
    Conductor conductor(*network);
    tape::Tape tape;
    Transport transport(conductor, *network, options, tape);
    Run run{.conductor = conductor, .steps = steps, .still_running = kLearners + 1};
    conductor.spawn(ring_each_step(run, transport, {0, 1, 2, 3}), {});
    for (std::uint32_t i = 0; i < kLearners; ++i) conductor.spawn(learner(run, i), {});
    conductor.run();
    return seconds_between(run.start, run.end);
  });
}

// --- The same sleeps and flows in plain SimGrid, an actor each ---

void bare_platform(std::vector<s4u::Host*>& hosts) {
  s4u::NetZone* zone = s4u::create_full_zone("wan");
  for (std::size_t i = 0; i < kRegions; ++i) {
    hosts.push_back(zone->create_host(fmt::format("h{}", i), 1e9));
  }
  for (std::size_t i = 0; i < kRegions; ++i) {
    s4u::SplitDuplexLink* link = zone->create_split_duplex_link(fmt::format("l{}", i), kRate);
    link->set_latency(0.0);
    zone->add_route(hosts[i]->get_netpoint(), hosts[(i + 1) % kRegions]->get_netpoint(), nullptr,
                    nullptr, {{link, s4u::LinkInRoute::Direction::UP}}, true);
  }
  zone->seal();
}

void bare_ring(const std::vector<s4u::Host*>& hosts, std::int64_t steps) {
  for (std::int64_t i = 0; i < steps; ++i) {
    s4u::this_actor::sleep_for(base::to_seconds(kDelay));
    std::vector<s4u::CommPtr> flows;
    for (std::size_t j = 0; j < kRegions; ++j) {
      flows.push_back(s4u::Comm::sendto_async(hosts[j], hosts[(j + 1) % kRegions], kHopBytes));
    }
    while (!flows.empty()) flows.erase(flows.begin() + s4u::Comm::wait_any(flows));
    s4u::this_actor::sleep_until(static_cast<double>(i + 1));
  }
}

double bare_seconds(std::int64_t steps) {
  return run_forked([steps] {
    xbt_log_control_set("xbt_cfg.thresh:warning");
    std::string name = "bare";
    std::array<char*, 2> arguments = {name.data(), nullptr};
    int count = 1;
    s4u::Engine engine(&count, arguments.data());
    s4u::Engine::set_config("network/model:CM02");
    s4u::Engine::set_config("network/TCP-gamma:1e15");
    s4u::Engine::set_config("network/crosstraffic:0");
    std::vector<s4u::Host*> hosts;
    bare_platform(hosts);
    for (std::uint32_t i = 0; i < kLearners; ++i) {
      s4u::Actor::create("learner", hosts[i % kRegions], [steps] {
        for (std::int64_t step = 0; step < steps; ++step) s4u::this_actor::sleep_for(1.0);
      });
    }
    s4u::Actor::create("ring", hosts[0], [&hosts, steps] { bare_ring(hosts, steps); });
    const WallClock::time_point start = WallClock::now();
    engine.run();
    return seconds_between(start, WallClock::now());
  });
}

void learners_and_rings_against_bare(benchmark::State& state) {
  const std::int64_t steps = state.range(0);
  double ours_s = 0.0, bare_s = 0.0;
  for (auto _ : state) {
    const double ours_once_s = our_seconds(steps);
    bare_s += bare_seconds(steps);
    ours_s += ours_once_s;
    state.SetIterationTime(ours_once_s);
  }
  const double events =
      static_cast<double>(kEventsPerStep * steps) * static_cast<double>(state.iterations());
  state.counters["our_events_per_s"] = events / ours_s;
  state.counters["bare_events_per_s"] = events / bare_s;
  state.counters["ours_over_bare"] = bare_s / ours_s;  // design section 8: at least 0.5
}
BENCHMARK(learners_and_rings_against_bare)->Arg(1'000)->Arg(50'000)->UseManualTime()->MinTime(0.01);

void sleeps_alone(benchmark::State& state) {
  const std::int64_t steps = state.range(0);
  for (auto _ : state) {
    const std::unique_ptr<FlowNetwork> network = make_no_network();
    Conductor conductor(*network);
    Run run{.conductor = conductor, .steps = steps, .still_running = kLearners};
    for (std::uint32_t i = 0; i < kLearners; ++i) conductor.spawn(learner(run, i), {});
    conductor.run();
  }
  state.SetItemsProcessed(state.iterations() * steps * kLearners);
}
BENCHMARK(sleeps_alone)->Arg(1'000)->Arg(100'000)->MinTime(0.01);

}  // namespace
}  // namespace sim::engine

BENCHMARK_MAIN();

// tests/engine/transport_test.cpp: how long transfers take, against closed forms.
//
// Goal:   a transfer ends after its one-way delay and its bytes over its max-min share, to the
//         nanosecond where the share is constant; rates that change under flows are seen at once.
// Method: closed forms on a path of 5 Gbit/s and 60 ms round trip; each case in a forked child, as an
//         engine can be made once per process; bytes close in each.
// Teeth:  seen failing with the default network model, with cross traffic, with links of 30 ms
//         latency, without the callback on the rate (a rise above the rate at the start went unseen),
//         without catching up with the date before a flow starts, ends rounded down, flows that end at
//         a date not collected at it, retime() left out, the deadline put before arrivals, the end of
//         the run cancelling what is in flight, and the signal handlers not put back.
#include "sim/engine/transport.h"

#include <catch2/catch.hpp>
#include <csignal>

#include "tests/engine/run_forked.h"
#include "tests/engine/transport_fixture.h"

namespace sim::engine {
namespace {

using base::kMillisecond;
using base::kSecond;

constexpr std::int64_t kTenGb = 10'000'000'000;

struct Outcome {
  std::array<Nanoseconds, 40> at;
  std::array<TransferStatus, 40> status;
  bool bytes_close;
  std::int64_t lost, never_sent, in_flight;
  std::uint64_t event_count;
};

// Runs what `prepare` spawns; `endings` are copied out.
template <class Prepare>
Outcome simulate(const NetworkOptions& options, Prepare prepare) {
  return run_forked([&] {
    World world(options);
    std::vector<Ending> endings(40);
    prepare(world, endings);
    world.conductor.run();
    Outcome outcome{};
    for (std::size_t i = 0; i < endings.size(); ++i) {
      outcome.at[i] = endings[i].at;
      outcome.status[i] = endings[i].status;
    }
    outcome.bytes_close = world.ledger.closes();
    outcome.lost = world.ledger.lost;
    outcome.never_sent = world.ledger.never_sent;
    outcome.in_flight = world.ledger.in_flight();
    outcome.event_count = world.conductor.event_count();
    return outcome;
  });
}

Process rates_at(World& world, std::vector<std::pair<Nanoseconds, double>> changes) {
  for (const auto& [date, factor] : changes) {
    co_await world.conductor.sleep_until(date, {Priority::kFault, 0});
    world.transport.set_link_rate_factor(0, 1, factor);
  }
}

TEST_CASE("transport: F flows at once take the delay and F * S / B", "[unit][engine]") {
  // 10 GB at 0.625 GB/s are 16 s for one flow: 16.03, 64.03 and 256.03 s.
  for (const int flow_count : {1, 4, 16}) {
    CAPTURE(flow_count);
    const Outcome outcome = simulate(full_mesh(2), [&](World& world, auto& endings) {
      for (std::size_t i = 0; i < static_cast<std::size_t>(flow_count); ++i) {
        world.conductor.spawn(
            send_at(world, 0, {{0, 1, kTenGb}}, TrafficClass::kFragment, endings[i]), {});
      }
    });
    for (std::size_t i = 0; i < static_cast<std::size_t>(flow_count); ++i) {
      CHECK(outcome.at[i] == kThirtyMs + flow_count * 16 * kSecond);
      CHECK(outcome.status[i] == TransferStatus::kOk);
    }
    CHECK(outcome.bytes_close);
  }
}

TEST_CASE("transport: the two directions of a link do not share", "[unit][engine]") {
  const Outcome outcome = simulate(full_mesh(2), [](World& world, auto& endings) {
    for (std::size_t i = 0; i < 8; ++i) {
      const Hop hop = i < 4 ? Hop{0, 1, kTenGb} : Hop{1, 0, kTenGb};
      world.conductor.spawn(send_at(world, 0, {hop}, TrafficClass::kFragment, endings[i]), {});
    }
  });
  for (std::size_t i = 0; i < 8; ++i) CHECK(outcome.at[i] == kThirtyMs + 64 * kSecond);
  CHECK(outcome.bytes_close);
}

TEST_CASE("transport: a flow that joins later gets half from then on", "[unit][engine]") {
  // A alone for 8 s carries 5 GB; then both at half rate: A's other 5 GB take 16 s (ends 24.03), in
  // which B carries 5 GB; B's last 5 GB alone take 8 s (ends 32.03).
  const Outcome outcome = simulate(full_mesh(2), [](World& world, auto& endings) {
    for (std::size_t i = 0; i < 2; ++i) {
      world.conductor.spawn(send_at(world, static_cast<Nanoseconds>(i) * 8 * kSecond,
                                    {{0, 1, kTenGb}}, TrafficClass::kFragment, endings[i]),
                            {});
    }
  });
  CHECK(outcome.at[0] == kThirtyMs + 24 * kSecond);
  CHECK(outcome.at[1] == kThirtyMs + 32 * kSecond);
}

TEST_CASE("transport: a rate that falls and rises is seen by running flows", "[unit][engine]") {
  // 10 GB = 16 full seconds. Started under factor 0.1; rises to 1 at 10.03 (1 done, 15 left), falls
  // to 0.5 at 20.03 (11 done, 5 left), rises to 1 at 24.03 (13 done, 3 left): ends at 27.03.
  const Outcome outcome = simulate(full_mesh(2), [](World& world, auto& endings) {
    world.conductor.spawn(send_at(world, 0, {{0, 1, kTenGb}}, TrafficClass::kFragment, endings[0]),
                          {});
    world.conductor.spawn(rates_at(world, {{0, 0.1},
                                           {10 * kSecond + kThirtyMs, 1.0},
                                           {20 * kSecond + kThirtyMs, 0.5},
                                           {24 * kSecond + kThirtyMs, 1.0}}),
                          {});
  });
  CHECK(outcome.at[0] == 27 * kSecond + kThirtyMs);
  CHECK(outcome.bytes_close);
}

TEST_CASE("transport: a stall loses nothing and is made up for", "[unit][engine]") {
  // 16 s of work, 8 done at 8.03; stalled at 1e-6 for 1000 s (1 ms of work), then 7.999 s more.
  const Outcome outcome = simulate(full_mesh(2), [](World& world, auto& endings) {
    world.conductor.spawn(send_at(world, 0, {{0, 1, kTenGb}}, TrafficClass::kFragment, endings[0]),
                          {});
    world.conductor.spawn(
        rates_at(world, {{8 * kSecond + kThirtyMs, 0.0}, {1008 * kSecond + kThirtyMs, 1.0}}), {});
  });
  CHECK(outcome.at[0] == 1008 * kSecond + kThirtyMs + 7'999 * kMillisecond);
  CHECK(outcome.status[0] == TransferStatus::kOk);
  CHECK(outcome.lost == 0);
}

TEST_CASE("transport: a flow after a long quiet time starts at its own date", "[unit][engine]") {
  // Nothing moves for 30 days; 625 bytes then take 1 us after the delay. At 2.6e6 s the engine's
  // double clock resolves half a nanosecond, so one is allowed.
  constexpr Nanoseconds kDate = 30 * base::kDay;
  const Outcome outcome = simulate(full_mesh(2), [](World& world, auto& endings) {
    world.conductor.spawn(send_at(world, kDate, {{0, 1, 625}}, TrafficClass::kFragment, endings[0]),
                          {});
  });
  CHECK(std::abs(outcome.at[0] - (kDate + kThirtyMs + 1'000)) <= 1);
}

TEST_CASE("transport: zero bytes take the delay, and the fabric its closed form", "[unit][engine]") {
  // Within a region: 1 us + 5e9 / 5e10 s = 100.001 ms. A hop of nothing there: 1 us.
  const Outcome outcome = simulate(full_mesh(2), [](World& world, auto& endings) {
    const auto spawn = [&](Hop hop, Ending& ending) {
      world.conductor.spawn(send_at(world, 0, {hop}, TrafficClass::kFragment, ending), {});
    };
    spawn({0, 1, 0}, endings[0]);
    spawn({1, 1, 5'000'000'000}, endings[1]);
    spawn({1, 1, 0}, endings[2]);
    world.conductor.spawn(send_at(world, 5, {}, TrafficClass::kFragment, endings[3]), {});
  });
  CHECK(outcome.at[0] == kThirtyMs);
  CHECK(outcome.at[1] == 100 * kMillisecond + 1'000);
  CHECK(outcome.at[2] == 1'000);
  CHECK(outcome.at[3] == 5);  // an exchange of no hops
  CHECK(outcome.bytes_close);
}

TEST_CASE("transport: control messages pass bulk and follow the rate", "[unit][engine]") {
  // 6.25e6 bytes are 10 ms at full rate, whatever bulk runs. The second starts to move at 1.03 s
  // and has 5 ms done when the rate falls to a half: the other 5 ms take 10.
  const Outcome outcome = simulate(full_mesh(2), [](World& world, auto& endings) {
    const auto spawn = [&](Nanoseconds date, std::int64_t bytes, TrafficClass traffic, Ending& end) {
      world.conductor.spawn(send_at(world, date, {{0, 1, bytes}}, traffic, end), {});
    };
    spawn(0, kTenGb, TrafficClass::kFragment, endings[0]);
    spawn(0, 6'250'000, TrafficClass::kControl, endings[1]);
    spawn(kSecond, 6'250'000, TrafficClass::kControl, endings[2]);
    world.conductor.spawn(
        rates_at(world, {{1'035 * kMillisecond, 0.5}, {2'035 * kMillisecond, 1.0}}), {});
  });
  CHECK(outcome.at[1] == 40 * kMillisecond);
  CHECK(outcome.at[2] == 1'045 * kMillisecond);
  CHECK(outcome.at[0] == kThirtyMs + 16 * kSecond + kSecond / 2);  // one second at half rate
}

TEST_CASE("transport: a deadline ends what is late and an arrival at it wins", "[unit][engine]") {
  // 16.03 s alone. Cut at 8.03 s exactly half has left the source.
  const auto run_with = [](Nanoseconds deadline) {
    return simulate(full_mesh(2), [deadline](World& world, auto& endings) {
      // The process's own turn stands before arrivals; that must not turn arrival into timeout.
      world.conductor.spawn(send_at(world, 0, {{0, 1, kTenGb}}, TrafficClass::kFragment, endings[0],
                                    deadline, {Priority::kStep, 0}),
                            {});
    });
  };
  const Outcome late = run_with(8 * kSecond + kThirtyMs);
  CHECK(late.status[0] == TransferStatus::kTimeout);
  CHECK(late.at[0] == 8 * kSecond + kThirtyMs);
  CHECK(late.lost == kTenGb / 2);
  CHECK(late.never_sent == kTenGb / 2);
  CHECK(late.bytes_close);
  const Outcome just_in_time = run_with(16 * kSecond + kThirtyMs);
  CHECK(just_in_time.status[0] == TransferStatus::kOk);
  CHECK(just_in_time.at[0] == 16 * kSecond + kThirtyMs);
  // The same for an arrival in closed form, which stands on the agenda as the deadline does.
  const Outcome control = simulate(full_mesh(2), [](World& world, auto& endings) {
    world.conductor.spawn(send_at(world, 0, {{0, 1, 0}}, TrafficClass::kControl, endings[0],
                                  kThirtyMs, {Priority::kStep, 0}),
                          {});
  });
  CHECK(control.status[0] == TransferStatus::kOk);
}

TEST_CASE("transport: a decision at the date of an arrival sees it", "[unit][engine]") {
  const std::int64_t received = run_forked([] {
    World world(full_mesh(2));
    Ending ending;
    std::int64_t seen = 0;
    // On the agenda before the transfer is even started.
    world.conductor.call_at(16 * kSecond + kThirtyMs, {Priority::kDecision, 0},
                            [&] { seen = world.ledger.received; });
    world.conductor.spawn(
        send_at(world, 0, {{0, 1, kTenGb}}, TrafficClass::kFragment, ending), {});
    world.conductor.run();
    return seen;
  });
  CHECK(received == kTenGb);
}

TEST_CASE("transport: a second engine in one process is refused", "[unit][engine]") {
  const bool refused = run_forked([] {
    World(full_mesh(2)).conductor.run();
    World second(full_mesh(2));
    try {
      second.conductor.run();
    } catch (const std::logic_error& error) {
      return std::string(error.what()) == "simgrid network: one engine per process";
    }
    return false;
  });
  CHECK(refused);
}

TEST_CASE("transport: what is in flight when the run stops stays in flight", "[unit][engine]") {
  const Outcome outcome = simulate(full_mesh(2), [](World& world, auto& endings) {
    world.conductor.spawn(send_at(world, 0, {{0, 1, kTenGb}}, TrafficClass::kFragment, endings[0]),
                          {});
    world.conductor.call_at(kSecond, {}, [&world] { world.conductor.stop(); });
  });
  CHECK(outcome.in_flight == kTenGb);
  CHECK(outcome.lost == 0);
  CHECK(outcome.at[0] == -1);
  CHECK(outcome.bytes_close);
}

TEST_CASE("transport: with no network transfers take no time but keep their turn",
          "[unit][engine]") {
  NetworkOptions options = full_mesh(3);
  options.model = NetworkModel::kNone;
  World world(options);  // no engine, so no fork
  std::vector<Ending> endings(2);
  world.conductor.spawn(
      send_at(world, kSecond, {{0, 1, kTenGb}, {1, 2, 5}}, TrafficClass::kFragment, endings[0]),
      {});
  world.conductor.call_at(2 * kSecond, {}, [&world] {
    world.transport.set_link_up(0, 1, false);
    world.transport.set_link_up(0, 2, false);  // no way round either
  });
  world.conductor.spawn(
      send_at(world, 3 * kSecond, {{0, 1, kTenGb}}, TrafficClass::kFragment, endings[1]), {});
  world.conductor.run();
  CHECK(endings[0].at == kSecond);
  CHECK(endings[0].status == TransferStatus::kOk);
  CHECK(endings[1].at == 3 * kSecond);
  CHECK(endings[1].status == TransferStatus::kLinkDown);
  CHECK(world.conductor.event_count() == 7);  // 2 starts, 2 sleeps, 2 ends, 1 fault
  CHECK(world.ledger.closes());
  CHECK(world.ledger.started_count == 3);
  CHECK(world.ledger.asked == 0);  // no bytes are counted
}

TEST_CASE("transport: signal handlers are the same after the engine exists", "[unit][engine]") {
  static const auto ours = [](int) {};
  const bool kept = run_forked([] {
    const std::array signals = {SIGINT, SIGTERM};
    for (const int number : signals) std::signal(number, ours);
    World world(full_mesh(2));
    bool same = true;
    world.conductor.call_at(kSecond, {}, [&] {
      for (const int number : signals) {
        struct sigaction now = {};
        sigaction(number, nullptr, &now);
        same = same && now.sa_handler == static_cast<void (*)(int)>(ours);
      }
    });
    world.conductor.run();
    return same;
  });
  CHECK(kept);
}

TEST_CASE("transport: wrong regions, links and rates are refused", "[unit][engine]") {
  NetworkOptions twice = full_mesh(2);
  twice.links.push_back({"r1", "r0", 1.0, 0});
  CHECK_THROWS_WITH(World(twice), "transport: two links between one pair of regions");
  NetworkOptions unknown = full_mesh(1);
  unknown.links.push_back({"r0", "moon", 1.0, 0});
  CHECK_THROWS_WITH(World(unknown), "no region is called 'moon'");
  NetworkOptions apart = full_mesh(2);
  apart.links.clear();
  World world(apart);
  CHECK_THROWS_WITH(world.transport.one_way(0, 1), "transport: no link 0 - 1");
  CHECK_THROWS_WITH(world.transport.set_link_up(0, 0, false), "transport: no link 0 - 0");
  CHECK_FALSE(world.transport.has_link(0, 1));
  CHECK_FALSE(world.transport.reachable(0, 1));
  CHECK(world.transport.reachable(1, 1));
  World linked(full_mesh(2));
  CHECK_THROWS_WITH(linked.transport.set_link_rate_factor(0, 1, 1.5),
                    "a rate factor must be in [0, 1]; got 1.5");
  CHECK(linked.transport.duration_alone({0, 1, kTenGb}) == kThirtyMs + 16 * kSecond);
}

}  // namespace
}  // namespace sim::engine

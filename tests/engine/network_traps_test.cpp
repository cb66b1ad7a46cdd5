// tests/engine/network_traps_test.cpp: the engine's failure traps never show through the transport.
//
// Goal:   whatever dies, whenever it dies, a transfer ends at that date with a status, its bytes are
//         split, and nothing of an old life reaches a new one.
// Method: one case per trap, each in a forked child.
// Teeth:  seen failing with set_region_up() and set_link_up() that break nothing, a broken transfer
//         counted as carried in full, the check at the start left out, the destructor that cancels
//         nothing, hops of a broken exchange not told apart, and a rate factor of 0 passed on (abort).
#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "sim/engine/transport.h"
#include "tests/engine/run_forked.h"
#include "tests/engine/transport_fixture.h"

namespace sim::engine {
namespace {

using base::kMillisecond;
using base::kSecond;

constexpr std::int64_t kTenGb = 10'000'000'000;  // 16 s alone
constexpr Turn kFaultTurn = {Priority::kFault, 0};

struct Broken {
  Ending first, second;
  std::int64_t lost, never_sent, received;
  std::array<int, 5> count_of;
  bool bytes_close;
  Conductor::Outcome outcome;
};

// One or two transfers 0 -> 1, and what `prepare` does to them.
template <class Prepare>
Broken simulate(Prepare prepare, std::size_t region_count = 2) {
  return run_forked([&] {
    World world(full_mesh(region_count));
    Broken broken{};
    prepare(world, broken);
    broken.outcome = world.conductor.run();
    broken.lost = world.ledger.lost;
    broken.never_sent = world.ledger.never_sent;
    broken.received = world.ledger.received;
    broken.count_of = world.ledger.count_of;
    broken.bytes_close = world.ledger.closes();
    return broken;
  });
}

void spawn_send(World& world, Nanoseconds date, Ending& ending,
                TrafficClass traffic = TrafficClass::kFragment) {
  world.conductor.spawn(send_at(world, date, {{0, 1, kTenGb}}, traffic, ending), {});
}

TEST_CASE("trap: a peer that is down before the start breaks the transfer at once",
          "[unit][engine]") {
  const Broken broken = simulate([](World& world, Broken& out) {
    world.conductor.call_at(0, kFaultTurn, [&] { world.transport.set_region_up(1, false); });
    spawn_send(world, kSecond, out.first);
  });
  CHECK(broken.first.at == kSecond);
  CHECK(broken.first.status == TransferStatus::kPeerDown);
  CHECK(broken.never_sent == kTenGb);
  CHECK(broken.bytes_close);
}

TEST_CASE("trap: a peer that dies in the propagation delay leaves nothing carried",
          "[unit][engine]") {
  const Broken broken = simulate([](World& world, Broken& out) {
    spawn_send(world, 0, out.first);
    world.conductor.call_at(10 * kMillisecond, kFaultTurn,
                            [&] { world.transport.set_region_up(0, false); });
  });
  CHECK(broken.first.at == 10 * kMillisecond);
  CHECK(broken.first.status == TransferStatus::kPeerDown);
  CHECK(broken.lost == 0);
  CHECK(broken.never_sent == kTenGb);
  CHECK(broken.bytes_close);
}

TEST_CASE("trap: a peer that dies during a transfer breaks it at that date", "[unit][engine]") {
  // Dies at 4.03 s: 4 s * 0.625 GB/s = 2.5 GB had left.
  const Broken broken = simulate([](World& world, Broken& out) {
    spawn_send(world, 0, out.first);
    world.conductor.call_at(4 * kSecond + kThirtyMs, kFaultTurn,
                            [&] { world.transport.set_region_up(1, false); });
  });
  CHECK(broken.first.at == 4 * kSecond + kThirtyMs);
  CHECK(broken.first.status == TransferStatus::kPeerDown);
  CHECK(broken.lost == 2'500'000'000);
  CHECK(broken.never_sent == 7'500'000'000);
  CHECK(broken.bytes_close);
}

TEST_CASE("trap: a peer that dies at the date of the arrival, or after it, is too late",
          "[unit][engine]") {
  for (const Nanoseconds after : {Nanoseconds{0}, kSecond}) {
    const Broken broken = simulate([after](World& world, Broken& out) {
      spawn_send(world, 0, out.first);
      world.conductor.call_at(16 * kSecond + kThirtyMs + after, kFaultTurn,
                              [&] { world.transport.set_region_up(1, false); });
    });
    CHECK(broken.first.status == TransferStatus::kOk);
    CHECK(broken.received == kTenGb);
  }
}

TEST_CASE("trap: transfers inside a region and control messages break too", "[unit][engine]") {
  // The control message moves from 0.03 s on; at 1.03 s 0.625 GB of its 10 GB have left. The local
  // one (50 GB/s, 1 us) had 10 GB = 0.2 s of 100 GB's 2 s done at 0.200001 s.
  const Broken broken = simulate([](World& world, Broken& out) {
    spawn_send(world, 0, out.first, TrafficClass::kControl);
    world.conductor.spawn(send_at(world, 0, {{0, 0, 10 * kTenGb}}, TrafficClass::kGradient,
                                  out.second),
                          {});
    world.conductor.call_at(200 * kMillisecond + 1'000, kFaultTurn,
                            [&] { world.transport.set_region_up(0, false); });
  });
  CHECK(broken.first.status == TransferStatus::kPeerDown);
  CHECK(broken.second.status == TransferStatus::kPeerDown);
  // 0.170001 s * 0.625 GB/s = 106,250,625 bytes, and 10 GB.
  CHECK(std::abs(broken.lost - (106'250'625 + kTenGb)) <= 2);  // each rounded down
  CHECK(broken.bytes_close);
}

TEST_CASE("trap: a link that goes down and up at one date still breaks what was on it",
          "[unit][engine]") {
  const Broken broken = simulate([](World& world, Broken& out) {
    spawn_send(world, 0, out.first);
    spawn_send(world, 8 * kSecond, out.second);  // at the very date, after the fault
    world.conductor.call_at(8 * kSecond, kFaultTurn, [&] {
      world.transport.set_link_up(0, 1, false);
      world.transport.set_link_up(0, 1, true);
    });
  });
  CHECK(broken.first.at == 8 * kSecond);
  CHECK(broken.first.status == TransferStatus::kLinkDown);
  CHECK(broken.second.at == 24 * kSecond + kThirtyMs);  // alone on the link
  CHECK(broken.second.status == TransferStatus::kOk);
  CHECK(broken.bytes_close);
}

TEST_CASE("trap: of an exchange the broken hops have their status, the others are cancelled",
          "[unit][engine]") {
  const Broken broken = simulate(
      [](World& world, Broken& out) {
        world.conductor.spawn(send_at(world, 0, {{0, 1, kTenGb}, {1, 2, kTenGb}, {2, 0, 1'000}},
                                      TrafficClass::kFragment, out.first),
                              {});
        world.conductor.call_at(kSecond, kFaultTurn,
                                [&] { world.transport.set_link_up(1, 2, false); });
      },
      3);
  CHECK(broken.first.at == kSecond);
  CHECK(broken.first.status == TransferStatus::kLinkDown);
  CHECK(broken.count_of == std::array{1, 0, 1, 0, 1});  // ok, peer, link, timeout, cancelled
  CHECK(broken.bytes_close);
}

TEST_CASE("trap: a flow started at rate zero waits, and one with a full rate later ends",
          "[unit][engine]") {
  // Stalled from before the start to 100.03 s: 100 us of work done by then, so 16 s less 0.1 ms.
  const Broken broken = simulate([](World& world, Broken& out) {
    world.transport.set_link_rate_factor(0, 1, 0.0);  // also before the run
    spawn_send(world, 0, out.first);
    world.conductor.call_at(100 * kSecond + kThirtyMs, kFaultTurn,
                            [&] { world.transport.set_link_rate_factor(0, 1, 1.0); });
  });
  CHECK(broken.first.at == 116 * kSecond + kThirtyMs - 100'000);
  CHECK(broken.first.status == TransferStatus::kOk);
}

Process await_nothing(Signal& signal) { co_await signal.wait({}); }

TEST_CASE("trap: a deadlock with an engine is noticed, not passed over", "[unit][engine]") {
  const Broken broken = simulate([](World& world, Broken& out) {
    spawn_send(world, 0, out.first);
    world.conductor.spawn(await_nothing(world.transport.network_changed()), {});
  });
  CHECK(broken.first.status == TransferStatus::kOk);  // flows alone keep time going
  CHECK(broken.outcome == Conductor::Outcome::kStuck);
}

// --- Lives ---

struct Lives {
  World& world;
  int arrived_in_life[2] = {0, 0};
};

Process live(Lives& lives, int life, std::vector<Hop> hops) {
  co_await lives.world.transport.exchange(std::move(hops), TrafficClass::kFragment, {});
  ++lives.arrived_in_life[life];
}

TEST_CASE("trap: a late completion never reaches the next life", "[unit][engine]") {
  struct Result {
    int first, second;
    Nanoseconds end;
    int cancelled;
    std::int64_t lost;
    bool bytes_close;
  };
  // Killed at 8.03 s with half of both hops carried; the new life starts over: 8.03 + 16.03 s.
  const Result result = run_forked([] {
    World world(full_mesh(2));
    Lives lives{world};
    const ProcessId first = world.conductor.spawn(live(lives, 0, {{0, 1, kTenGb}, {1, 0, kTenGb}}), {});
    world.conductor.call_at(8 * kSecond + kThirtyMs, kFaultTurn, [&] {
      world.conductor.kill(first);
      world.conductor.spawn(live(lives, 1, {{0, 1, kTenGb}, {1, 0, kTenGb}}), {});
    });
    world.conductor.run();
    return Result{lives.arrived_in_life[0], lives.arrived_in_life[1], world.conductor.now(),
                  world.ledger.count_of[4], world.ledger.lost, world.ledger.closes()};
  });
  CHECK(result.first == 0);
  CHECK(result.second == 1);
  CHECK(result.end == 24 * kSecond + 2 * kThirtyMs);
  CHECK(result.cancelled == 2);
  CHECK(result.lost == kTenGb);
  CHECK(result.bytes_close);
}

// --- Many failures ---

double cpu_seconds() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec) +
         1e-6 * static_cast<double>(usage.ru_utime.tv_usec);
}

std::int64_t resident_kib() {
  std::ifstream file("/proc/self/statm");
  std::int64_t all = 0, resident = 0;
  file >> all >> resident;
  return resident * sysconf(_SC_PAGESIZE) / 1024;
}

Process send_for_ever(World& world, std::uint16_t source, std::uint16_t target) {
  for (;;) {
    co_await world.transport.send({source, target, kTenGb}, TrafficClass::kFragment, {});
    co_await world.conductor.sleep_for(100 * kMillisecond, {});
  }
}

struct Soak {
  int broken_count;
  double first_quarter_s, last_quarter_s;
  std::int64_t growth_kib;
  bool bytes_close;
};

Process break_often(World& world, Soak& soak) {
  constexpr int kRounds = 5'000;  // each breaks four transfers
  double started_s = cpu_seconds();
  std::int64_t warm_kib = 0;
  for (int round = 0; round < kRounds; ++round) {
    co_await world.conductor.sleep_for(kSecond, kFaultTurn);
    world.transport.set_region_up(0, false);
    world.transport.set_region_up(0, true);
    if (round == kRounds / 4) {
      soak.first_quarter_s = cpu_seconds() - started_s;
      warm_kib = resident_kib();
    }
    if (round == kRounds * 3 / 4) started_s = cpu_seconds();
  }
  soak.last_quarter_s = cpu_seconds() - started_s;
  soak.growth_kib = resident_kib() - warm_kib;
  world.conductor.stop();
}

TEST_CASE("trap: 20,000 broken transfers cost the same at the end as at the start",
          "[unit][engine]") {
  const Soak soak = run_forked([] {
    World world(full_mesh(3));
    Soak result{};
    for (const auto& [source, target] : {std::pair<std::uint16_t, std::uint16_t>{0, 1},
                                         {1, 0}, {0, 2}, {2, 0}, {1, 2}}) {
      world.conductor.spawn(send_for_ever(world, source, target), {});
    }
    world.conductor.spawn(break_often(world, result), {});
    world.conductor.run();
    result.broken_count = world.ledger.count_of[static_cast<int>(TransferStatus::kPeerDown)];
    result.bytes_close = world.ledger.closes();
    return result;
  });
  CHECK(soak.broken_count == 20'000);
  CHECK(soak.last_quarter_s < 3 * soak.first_quarter_s + 0.01);  // 10 ms: the clock's own grain
#ifndef __SANITIZE_ADDRESS__  // it holds back freed memory
  CHECK(soak.growth_kib < 2'048);
#endif
  CHECK(soak.bytes_close);
}

}  // namespace
}  // namespace sim::engine

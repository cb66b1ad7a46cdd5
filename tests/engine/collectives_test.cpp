// tests/engine/collectives_test.cpp: rings, two-level rings and stars, against messages one by one.
//
// Goal:   a ring as n flows and one extra wait takes the time of its 2(n-1) rounds of messages, and
//         the best ring is the best of all.
// Method: closed forms; a simulation that hands every message on when it arrives; brute force.
// Teeth:  seen failing with n-1 in place of 2(n-1) in the hops, the extra latency one delay short,
//         the two longest edges left out in place of the two shortest, the fastest link preferred with
//         its sign turned, the delay ignored among equal rates, and links that are down still counted.
#include "sim/engine/collectives.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <tuple>

#include "tests/engine/run_forked.h"
#include "tests/engine/transport_fixture.h"

namespace sim::engine {
namespace {

using base::kMillisecond;
using base::kSecond;
using Catch::Matchers::WithinRel;
using Ring = std::vector<std::uint16_t>;

constexpr std::int64_t kPayload = 12'000'000'000;  // divisible by 2, 3, 4, 8
constexpr auto kGradient = TrafficClass::kGradient;

Ring ring_of(std::size_t count) {
  Ring ring(count);
  for (std::size_t i = 0; i < count; ++i) ring[i] = static_cast<std::uint16_t>(i);
  return ring;
}

// --- The two forms ---

Process as_flows(World& world, const Ring& ring, Nanoseconds& end) {
  co_await world.transport.exchange(ring_hops(ring, kPayload), kGradient, {});
  co_await world.conductor.sleep_for(ring_extra_latency(world.transport, ring), {});
  end = world.conductor.now();
}

struct MessageRing {
  World& world;
  const Ring& ring;
  std::int64_t chunk_bytes;
  int round_count;
  Nanoseconds end = 0;
};

// One chunk goes over one edge, and is handed on when it has arrived.
Process hand_on(MessageRing& all, std::size_t member, int round) {
  const std::size_t next = (member + 1) % all.ring.size();
  co_await all.world.transport.send({all.ring[member], all.ring[next], all.chunk_bytes}, kGradient,
                                    {});
  if (round + 1 < all.round_count) {
    all.world.conductor.spawn(hand_on(all, next, round + 1), {});
  } else {
    all.end = std::max(all.end, all.world.conductor.now());
  }
}

Nanoseconds time_as_flows(const NetworkOptions& options, const Ring& ring) {
  return run_forked([&] {
    World world(options);
    Nanoseconds end = 0;
    world.conductor.spawn(as_flows(world, ring, end), {});
    world.conductor.run();
    if (!world.ledger.closes()) throw std::logic_error("bytes do not close");
    return end;
  });
}

Nanoseconds time_as_messages(const NetworkOptions& options, const Ring& ring) {
  return run_forked([&] {
    World world(options);
    const auto members = static_cast<std::int64_t>(ring.size());
    MessageRing all{world, ring, kPayload / members, static_cast<int>(2 * (members - 1))};
    for (std::size_t i = 0; i < ring.size(); ++i) world.conductor.spawn(hand_on(all, i, 0), {});
    world.conductor.run();
    if (!world.ledger.closes()) throw std::logic_error("bytes do not close");
    return all.end;
  });
}

TEST_CASE("ring: flows, messages and the closed form agree", "[unit][engine]") {
  // 2(n-1) delays of 30 ms and 2(n-1)/n * 12 GB / 0.625 GB/s = 2(n-1)/n * 19.2 s.
  for (const std::size_t members : {std::size_t{2}, std::size_t{3}, std::size_t{4}, std::size_t{8}}) {
    CAPTURE(members);
    const auto count = static_cast<std::int64_t>(members);
    const Nanoseconds closed_form =
        2 * (count - 1) * kThirtyMs + 2 * (count - 1) * 19'200 * kMillisecond / count;
    CHECK(time_as_flows(full_mesh(members), ring_of(members)) == closed_form);
    // Each of the 2(n-1) rounds may round by 1 ns.
    CHECK(std::abs(time_as_messages(full_mesh(members), ring_of(members)) - closed_form) <=
          2 * (count - 1));
  }
}

TEST_CASE("ring: unequal delays pay the slowest chain of messages", "[unit][engine]") {
  // Edges 0-1, 1-2, 2-3, 3-0 of 10, 20, 80 and 40 ms: twice round is 300 ms less the two shortest
  // neighbours, 30: 270 ms, and 6/4 * 19.2 s. The messages are short enough here for delays to count.
  NetworkOptions options = full_mesh(4);
  for (LinkOptions& link : options.links) {
    const auto is = [&](const char* a, const char* b) {
      return link.region_a == a && link.region_b == b;
    };
    const Nanoseconds one_way_ms = is("r0", "r1") ? 10 : is("r1", "r2") ? 20 : is("r2", "r3") ? 80 : 40;
    link.rtt = 2 * one_way_ms * kMillisecond;
    link.bytes_per_s = 100 * kFiveGbps;  // 288 ms of transmission
  }
  const Nanoseconds closed_form = (270 + 288) * kMillisecond;
  const Nanoseconds flows = time_as_flows(options, ring_of(4));
  const Nanoseconds messages = time_as_messages(options, ring_of(4));
  CHECK(flows == closed_form);
  CHECK_THAT(static_cast<double>(messages), WithinRel(static_cast<double>(flows), 0.01));
}

TEST_CASE("ring: an edge at half rate sets the pace", "[unit][engine]") {
  // 6/4 * 12 GB / 0.3125 GB/s = 57.6 s, and 6 delays.
  NetworkOptions options = full_mesh(4);
  options.links.front().bytes_per_s = kFiveGbps / 2;  // r0 - r1
  const Nanoseconds flows = time_as_flows(options, ring_of(4));
  CHECK(flows == 57'600 * kMillisecond + 6 * kThirtyMs);
  // The messages start and drain over the faster edges too: they are within 1 %, not equal.
  const Nanoseconds messages = time_as_messages(options, ring_of(4));
  CHECK_THAT(static_cast<double>(messages), WithinRel(static_cast<double>(flows), 0.01));
}

TEST_CASE("ring: odd payloads are rounded up and small rings are empty", "[unit][engine]") {
  CHECK(ring_hops({}, 10).empty());
  CHECK(ring_hops({3}, 10).empty());
  const std::vector<Hop> hops = ring_hops({2, 0, 1}, 10);  // 4/3 * 10 = 13.3
  REQUIRE(hops.size() == 3);
  CHECK(std::tuple(hops[0].source_region, hops[0].target_region, hops[0].bytes) ==
        std::tuple(2, 0, 14));
  CHECK(std::tuple(hops[2].source_region, hops[2].target_region) == std::tuple(1, 2));
  // 2 * 2/3 of 3e18 is 4e18, below 2^63, though twice that on the way would not be.
  CHECK(ring_hops({0, 1, 2}, 3'000'000'000'000'000'000).front().bytes == 4'000'000'000'000'000'000);
}

// --- Two levels ---

Process local_rounds(World& world, std::uint16_t region, std::int64_t chunk_bytes, int rounds,
                     int& still_running, Signal& done) {
  for (int i = 0; i < rounds; ++i) {
    co_await world.transport.send({region, region, chunk_bytes}, kGradient, {});
  }
  if (--still_running == 0) done.notify();
}

struct TwoLevel {
  World& world;
  const Ring& ring;
  int hosts;
  Nanoseconds end = 0;
};

Task<> inside_all_regions(TwoLevel& all) {
  int still_running = static_cast<int>(all.ring.size());
  Signal done(all.world.conductor);
  for (const std::uint16_t region : all.ring) {
    all.world.conductor.spawn(local_rounds(all.world, region, kPayload / all.hosts, all.hosts - 1,
                                           still_running, done),
                              {});
  }
  co_await done.wait({});
}

// Reduce-scatter inside, one ring per host on its part across, all-gather inside.
Process two_level_messages(TwoLevel& all, std::vector<MessageRing>& rings) {
  co_await inside_all_regions(all);
  for (MessageRing& ring : rings) {
    for (std::size_t i = 0; i < all.ring.size(); ++i) {
      all.world.conductor.spawn(hand_on(ring, i, 0), {});
    }
  }
  while (std::ranges::any_of(rings, [](const MessageRing& ring) { return ring.end == 0; })) {
    co_await all.world.conductor.sleep_for(kMillisecond, {Priority::kMark, 0});
  }
  co_await inside_all_regions(all);
  all.end = all.world.conductor.now();
}

TEST_CASE("two-level ring: closed form inside and flows across match the messages",
          "[unit][engine]") {
  // Four hosts in each of three regions, 50 GB/s and 1 us inside: 6/4 * 12 GB / 50 GB/s = 0.36 s and
  // 6 us. Across: 4/3 * 19.2 s = 25.6 s and 4 delays.
  const Ring ring = ring_of(3);
  const NetworkOptions options = full_mesh(3);
  const Nanoseconds inside = local_all_reduce(options.regions[0], 4, kPayload);
  CHECK(inside == 360 * kMillisecond + 6'000);
  CHECK(local_all_reduce(options.regions[0], 1, kPayload) == 0);
  const Nanoseconds total = inside + time_as_flows(options, ring);
  CHECK(total == inside + 25'600 * kMillisecond + 4 * kThirtyMs);
  const Nanoseconds messages = run_forked([&] {
    World world(options);
    TwoLevel all{world, ring, 4};
    std::vector<MessageRing> rings(4, MessageRing{world, ring, kPayload / 12, 4});
    world.conductor.spawn(two_level_messages(all, rings), {});
    world.conductor.run();
    return all.end;
  });
  CHECK_THAT(static_cast<double>(messages), WithinRel(static_cast<double>(total), 0.01));
}

// --- Star ---

Process star(World& world, std::vector<Hop> up, std::vector<Hop> down, Nanoseconds& end) {
  co_await world.transport.exchange(std::move(up), kGradient, {});
  co_await world.transport.exchange(std::move(down), kGradient, {});
  end = world.conductor.now();
}

TEST_CASE("star: each way takes its delay and what its fullest link carries", "[unit][engine]") {
  // Leaves: three in region 1, one in region 2; hub in region 0. The link 0 - 1 carries three times
  // 12 GB each way: 57.6 s and 30 ms, twice.
  const Nanoseconds end = run_forked([] {
    World world(full_mesh(3));
    Nanoseconds result = 0;
    const std::vector<Hop> up = {{1, 0, kPayload}, {1, 0, kPayload}, {1, 0, kPayload},
                                 {2, 0, kPayload}};
    std::vector<Hop> down = up;
    for (Hop& hop : down) std::swap(hop.source_region, hop.target_region);
    world.conductor.spawn(star(world, up, down, result), {});
    world.conductor.run();
    if (!world.ledger.closes()) throw std::logic_error("bytes do not close");
    return result;
  });
  CHECK(end == 2 * (57'600 * kMillisecond + kThirtyMs));
}

// --- The best ring ---

// (slowest rate negated, delay, the ring itself) of the best; every order of every rotation is tried.
std::tuple<double, Nanoseconds, Ring> best_by_force(const Transport& transport, Ring regions) {
  std::tuple<double, Nanoseconds, Ring> best{1.0, 0, {}};
  std::ranges::sort(regions);
  do {
    double slowest = 1e300;
    Nanoseconds delay = 0;
    bool closed = true;
    for (std::size_t i = 0; i < regions.size() && closed; ++i) {
      const std::uint16_t a = regions[i], b = regions[(i + 1) % regions.size()];
      closed = transport.has_link(a, b) && transport.reachable(a, b);
      if (!closed) break;
      slowest = std::min(slowest, transport.link_bytes_per_s(a, b));
      delay += transport.one_way(a, b);
    }
    if (closed) best = std::min(best, {-slowest, delay, regions});
  } while (std::ranges::next_permutation(regions).found);
  return best;
}

TEST_CASE("best ring: as good as brute force, and the first in order", "[unit][engine][property]") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 rng(seed);
    const std::size_t count = 2 + seed % 5;
    NetworkOptions options = full_mesh(count);
    options.model = NetworkModel::kNone;  // only asked, never run
    // Few distinct values, so that ties are common.
    for (LinkOptions& link : options.links) {
      link.bytes_per_s = static_cast<double>(1 + rng() % 3);
      link.rtt = static_cast<Nanoseconds>(2 * (1 + rng() % 4));
    }
    World world(options);
    for (const LinkOptions& link : options.links) {
      if (rng() % 6 == 0) {
        world.transport.set_link_up(region_index(options, link.region_a),
                                    region_index(options, link.region_b), false);
      }
    }
    Ring shuffled = ring_of(count);
    std::swap(shuffled[rng() % count], shuffled[rng() % count]);
    CHECK(best_ring(world.transport, shuffled) ==
          std::get<Ring>(best_by_force(world.transport, ring_of(count))));
  }
}

TEST_CASE("best ring: none without enough links, and large ones are rings", "[unit][engine]") {
  NetworkOptions options = full_mesh(12);
  options.model = NetworkModel::kNone;
  World world(options);
  Ring ring = best_ring(world.transport, ring_of(12));  // equal links: any order will do
  CHECK(ring.front() == 0);
  std::ranges::sort(ring);
  CHECK(ring == ring_of(12));
  CHECK(best_ring(world.transport, {}).empty());
  CHECK(best_ring(world.transport, {5}) == Ring{5});
  CHECK_THROWS_WITH(best_ring(world.transport, {5, 5}), "best ring: a region twice");
  world.transport.set_region_up(3, false);
  CHECK(best_ring(world.transport, {1, 2, 3}).empty());
  CHECK(best_ring(world.transport, ring_of(12)).empty());
}

}  // namespace
}  // namespace sim::engine

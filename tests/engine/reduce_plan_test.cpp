// tests/engine/reduce_plan_test.cpp: planned rings, two-level rings and stars, against messages.
//
// Goal:   a ring as n flows and one extra wait takes the time of its 2(n-1) rounds of messages, and as
//         long as the plan says.
// Method: closed forms; a simulation that hands every message on when it arrives.
// Teeth:  seen failing with n-1 in place of 2(n-1) in the hops, the extra latency one delay short, and
//         the two longest edges left out in place of the two shortest.
#include "sim/engine/reduce_plan.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <tuple>

#include "sim/engine/collectives.h"
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
  const auto plan = world.transport.plan(ring, kPayload);
  if (plan->members != ring) throw std::logic_error("another order");
  co_await world.transport.exchange(plan->hops(kPayload), kGradient, {});
  co_await world.conductor.sleep_for(plan->extra_latency, {});
  end = world.conductor.now();
  if (end != plan->time(kPayload)) throw std::logic_error("not as planned");
}

// Links between neighbours only.
NetworkOptions ring_of_links(std::size_t count) {
  NetworkOptions options = full_mesh(count);
  std::erase_if(options.links, [count](const LinkOptions& link) {
    const std::size_t a = std::stoul(link.region_a.substr(1)), b = std::stoul(link.region_b.substr(1));
    return b - a != 1 && b - a != count - 1;
  });
  return options;
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
  NetworkOptions options = ring_of_links(4);
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

TEST_CASE("ring: a narrower edge sets the pace", "[unit][engine]") {
  // 6/4 * 12 GB / (0.625 GB/s / 1.5) = 43.2 s, and 6 delays.
  NetworkOptions options = ring_of_links(4);
  options.links.front().bytes_per_s = kFiveGbps / 1.5;  // r0 - r1
  const Nanoseconds flows = time_as_flows(options, ring_of(4));
  CHECK(flows == 43'200 * kMillisecond + 6 * kThirtyMs);
  // The messages start and drain over the faster edges too: they are within 1 %, not equal.
  const Nanoseconds messages = time_as_messages(options, ring_of(4));
  CHECK_THAT(static_cast<double>(messages), WithinRel(static_cast<double>(flows), 0.01));
}

TEST_CASE("ring: odd payloads are rounded up and small rings are empty", "[unit][engine]") {
  const NetworkView view = nominal_view(full_mesh(4));
  const auto planned = [&](Ring members) { return plan_all_reduce(view, std::move(members), 10); };
  CHECK(planned({}).hops(10).empty());
  CHECK(planned({3}).hops(10).empty());
  CHECK(planned({3}).time(10) == 0);
  const std::vector<Hop> hops = planned({2, 0, 1}).hops(10);  // 4/3 * 10 = 13.3
  REQUIRE(hops.size() == 3);
  CHECK(std::tuple(hops[0].source_region, hops[0].target_region, hops[0].bytes) ==
        std::tuple(0, 1, 14));
  CHECK(std::tuple(hops[2].source_region, hops[2].target_region) == std::tuple(2, 0));
  // 2 * 2/3 of 3e18 is 4e18, below 2^63, though twice that on the way would not be.
  CHECK(ring_edge_bytes(3, 3'000'000'000'000'000'000) == 4'000'000'000'000'000'000);
  CHECK_THROWS_WITH(planned({1, 1}), "all-reduce: a region twice");
  CHECK_THROWS_WITH(planned({1, 4}), "all-reduce: a region that is not there");
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

}  // namespace
}  // namespace sim::engine

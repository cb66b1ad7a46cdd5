// tests/engine/closed_form_network_test.cpp: the formula and SimGrid give the same dates.
//
// Goal:   a run may take its network from either and tell the same story.
// Method: random scripts of transfers, rate cuts, stalls, cuts of links and deaths of regions, played
//         on both; every transfer's end and status are compared, and all bytes.
// Teeth:  seen failing with a rate of 1/(n+1), with a rate cut that only one direction of the link
//         sees, and with the part of a nanosecond of an end forgotten.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstdlib>

#include "sim/base/random.h"
#include "tests/engine/run_forked.h"
#include "tests/engine/transport_fixture.h"

namespace sim::engine {
namespace {

using base::kMillisecond;
using base::kSecond;

constexpr std::size_t kTransfers = 300;
constexpr std::uint16_t kRegions = 4;

struct Story {
  std::array<Ending, kTransfers> endings;
  std::int64_t received, lost, never_sent;
  bool bytes_close;
};

NetworkOptions mesh(NetworkModel model) {
  NetworkOptions options = full_mesh(kRegions);
  options.model = model;
  // Rates that divide nothing evenly.
  double rate = 1.1e8;
  for (LinkOptions& link : options.links) link.bytes_per_s = rate *= 1.37;
  return options;
}

std::uint16_t below(base::Stream& stream, std::uint16_t bound) {
  return static_cast<std::uint16_t>(std::min(stream.next_uniform() * bound, bound - 1.0));
}

// Transfers of 1 byte to 3 GB over 100 s.
void spawn_transfers(World& world, base::Stream stream, Story& story) {
  for (std::size_t i = 0; i < kTransfers; ++i) {
    const auto at = static_cast<Nanoseconds>(stream.next_uniform() * 100 * kSecond);
    const std::uint16_t source = below(stream, kRegions);
    const auto target =
        static_cast<std::uint16_t>((source + 1 + below(stream, kRegions - 1)) % kRegions);
    const auto bytes = 1 + static_cast<std::int64_t>(3e9 * stream.next_uniform() *
                                                     stream.next_uniform());
    const Nanoseconds deadline = stream.next_uniform() < 0.1 ? at + 5 * kSecond : base::kNever;
    world.conductor.spawn(send_at(world, at, {{source, target, bytes}}, TrafficClass::kFragment,
                                  story.endings[i], deadline),
                          {});
  }
}

void call_troubles(World& world, base::Stream stream) {
  constexpr Turn kFaultTurn = {Priority::kFault, 0};
  for (int i = 0; i < 60; ++i) {
    const auto at = static_cast<Nanoseconds>(stream.next_uniform() * 100 * kSecond);
    const std::uint16_t a = below(stream, kRegions - 1);
    const auto b = static_cast<std::uint16_t>(a + 1);
    const double kind = stream.next_uniform();
    const double factor = stream.next_uniform();
    world.conductor.call_at(at, kFaultTurn, [&world, a, b, kind, factor] {
      if (kind < 0.6) return world.transport.set_link_rate_factor(a, b, factor);
      if (kind < 0.7) return world.transport.set_link_rate_factor(a, b, 0.0);
      if (kind < 0.8) return world.transport.set_link_up(a, b, factor > 0.3);
      world.transport.set_region_up(a, factor > 0.3);
    });
  }
  for (std::uint16_t a = 0; a + 1 < kRegions; ++a) {
    world.conductor.call_at(101 * kSecond, kFaultTurn, [&world, a] {
      world.transport.set_region_up(a, true);
      world.transport.set_link_up(a, static_cast<std::uint16_t>(a + 1), true);
      world.transport.set_link_rate_factor(a, static_cast<std::uint16_t>(a + 1), 1.0);
    });
  }
}

Story play(NetworkModel model, std::uint64_t seed, bool troubles) {
  return run_forked([&] {
    World world(mesh(model));
    Story story{};
    spawn_transfers(world, base::Stream(seed, "transfers"), story);
    if (troubles) call_troubles(world, base::Stream(seed, "troubles"));
    world.conductor.run();
    story.received = world.ledger.received;
    story.lost = world.ledger.lost;
    story.never_sent = world.ledger.never_sent;
    story.bytes_close = world.ledger.closes();
    return story;
  });
}

void check_alike(const Story& one, const Story& other, Nanoseconds tolerance) {
  std::int64_t furthest = 0;
  for (std::size_t i = 0; i < kTransfers; ++i) {
    CHECK(one.endings[i].status == other.endings[i].status);
    furthest = std::max<std::int64_t>(furthest, std::llabs(one.endings[i].at - other.endings[i].at));
  }
  CHECK(furthest <= tolerance);
  CHECK(one.received == other.received);
  CHECK(one.bytes_close);
  CHECK(other.bytes_close);
}

TEST_CASE("closed form: random transfers end when SimGrid ends them", "[unit][engine]") {
  for (const std::uint64_t seed : {1u, 2u, 3u, 4u, 5u}) {
    check_alike(play(NetworkModel::kClosedForm, seed, false),
                play(NetworkModel::kSimgrid, seed, false), 1);
  }
}

TEST_CASE("closed form: the same under rate cuts, stalls, cut links and dead regions",
          "[unit][engine]") {
  for (const std::uint64_t seed : {1u, 2u, 3u, 4u, 5u}) {
    const Story formula = play(NetworkModel::kClosedForm, seed, true);
    const Story simgrid = play(NetworkModel::kSimgrid, seed, true);
    check_alike(formula, simgrid, 1);
    // A broken transfer is split at a date a nanosecond apart: 0.7 bytes.
    CHECK(std::llabs(formula.lost - simgrid.lost) <= 100);
    CHECK(formula.lost > 0);
  }
}

// A flow after the other, each of 1/3 s and a bit: the exact ends lie between nanoseconds.
TEST_CASE("closed form: parts of nanoseconds do not add up", "[unit][engine]") {
  NetworkOptions options = full_mesh(2);
  options.model = NetworkModel::kClosedForm;
  options.links.front().bytes_per_s = 3e9 / 7;
  options.links.front().rtt = 0;
  World world(options);
  // One long flow beside 200 short ones, always two at a time: the long one has half of the link.
  constexpr std::int64_t kShort = 100'000'003;
  constexpr int kCount = 200;
  Ending long_one, last;
  world.conductor.spawn(send_at(world, 0, {{0, 1, kShort * kCount}}, TrafficClass::kFragment, long_one), {});
  world.conductor.spawn(
      [](World& w, Ending& ending) -> Process {
        for (int i = 0; i < kCount; ++i) {
          ending.status = co_await w.transport.send(Hop{0, 1, kShort}, TrafficClass::kFragment, Turn{});
        }
        ending.at = w.conductor.now();
      }(world, last),
      {});
  world.conductor.run();
  // The link never rests: together 2 * kShort * kCount bytes at 3e9/7 per second.
  const double expected_ns = 2.0 * kShort * kCount / (3e9 / 7) * 1e9;
  CHECK(std::abs(static_cast<double>(std::max(long_one.at, last.at)) - expected_ns) <= 1.0);
}

}  // namespace
}  // namespace sim::engine

// tests/engine/relay_test.cpp: transfers that pass on through other regions.
//
// Goal:   a relayed transfer pays the delays of its path once and moves at its narrowest link; every
//         link is charged; SimGrid and the closed form agree; a break on the way breaks it.
// Method: closed forms on a chain of three regions, in a forked child each.
// Teeth:  seen failing with the longest delay taken off a ring whose narrowest link has another.
#include <catch2/catch.hpp>
#include <set>

#include "tests/engine/run_forked.h"
#include "tests/engine/transport_fixture.h"

namespace sim::engine {
namespace {

using base::kMillisecond;
using base::kSecond;

// r0 - r1 at 1 GB/s and 10 ms, r1 - r2 at 0.5 GB/s and 30 ms.
NetworkOptions chain(NetworkModel model) {
  return {.model = model,
          .regions = {{"r0", 5e10, 0}, {"r1", 5e10, 0}, {"r2", 5e10, 0}},
          .links = {{"r0", "r1", 1e9, 20 * kMillisecond}, {"r1", "r2", 5e8, 60 * kMillisecond}}};
}

class Seen : public tape::Reader {
 public:
  void on(const tape::Fact& fact) override {
    if (fact.kind != tape::Kind::kTransferStarted) return;
    exchanges.insert(fact.transfer_started.exchange);
    pairs = pairs * 100 + fact.transfer_started.source_region * 10 + fact.transfer_started.target_region;
  }
  std::set<std::uint32_t> exchanges;
  std::int64_t pairs = 0;
};

struct Outcome {
  std::array<Ending, 3> endings;
  bool bytes_close;
  std::int64_t received, lost;
  std::int64_t pairs;
  std::size_t exchanges;
};

template <class Prepare>
Outcome simulate(NetworkModel model, Prepare prepare) {
  return run_forked([&] {
    World world(chain(model));
    Seen seen;
    world.tape.add(seen);
    std::array<Ending, 3> endings;
    prepare(world, endings);
    world.conductor.run();
    return Outcome{endings, world.ledger.closes(), world.ledger.received, world.ledger.lost,
                   seen.pairs, seen.exchanges.size()};
  });
}

const std::array kModels = {NetworkModel::kSimgrid, NetworkModel::kClosedForm};
constexpr std::int64_t kGigabyte = 1'000'000'000;

TEST_CASE("relay: the delays once, then the narrowest link; each link is charged", "[unit][engine]") {
  for (const NetworkModel model : kModels) {
    const Outcome outcome = simulate(model, [](World& world, auto& endings) {
      world.conductor.spawn(send_at(world, 0, {{0, 2, kGigabyte}}, TrafficClass::kFragment, endings[0]),
                            {});
      world.conductor.spawn(
          send_at(world, 10 * kSecond, {{2, 0, 1000}}, TrafficClass::kControl, endings[1]), {});
    });
    // 40 ms and 1 GB / 0.5 GB/s; 1000 bytes take 2 us.
    CHECK(outcome.endings[0].at == 2'040 * kMillisecond);
    CHECK(outcome.endings[1].at == 10 * kSecond + 40 * kMillisecond + 2'000);
    CHECK(outcome.bytes_close);
    CHECK(outcome.received == 2 * (kGigabyte + 1000));
    CHECK(outcome.pairs == 1'12'21'10);  // 0-1, 1-2, 2-1, 1-0
    CHECK(outcome.exchanges == 2);
  }
}

TEST_CASE("relay: shares each link with what crosses it", "[unit][engine]") {
  // Two relayed and one direct over r0 - r1 from 40 ms on (the direct one is 30 ms ahead: 0.03 GB):
  // the narrow link gives 0.25 GB/s each, 4 s; both models tell the same to a nanosecond.
  std::array<Outcome, 2> outcomes;
  for (std::size_t i = 0; i < kModels.size(); ++i) {
    outcomes[i] = simulate(kModels[i], [](World& world, auto& endings) {
      for (std::size_t k = 0; k < 3; ++k) {
        const Hop hop{0, static_cast<std::uint16_t>(k < 2 ? 2 : 1), kGigabyte};
        world.conductor.spawn(send_at(world, 0, {hop}, TrafficClass::kFragment, endings[k]), {});
      }
    });
    CHECK(outcomes[i].endings[0].at == 4'040 * kMillisecond);
    CHECK(outcomes[i].endings[1].at == 4'040 * kMillisecond);
    CHECK(outcomes[i].bytes_close);
  }
  // 0.03 GB alone until 40 ms, then a third of 1 GB/s: 0.97 GB in 2.91 s.
  for (const Outcome& outcome : outcomes) {
    CHECK(std::abs(outcome.endings[2].at - 2'950 * kMillisecond) <= 1);
  }
}

TEST_CASE("relay: a break anywhere on the way breaks it", "[unit][engine]") {
  for (const bool middle : {false, true}) {
    const Outcome outcome = simulate(NetworkModel::kSimgrid, [middle](World& world, auto& endings) {
      world.conductor.spawn(send_at(world, 0, {{0, 2, kGigabyte}}, TrafficClass::kFragment, endings[0]),
                            {});
      world.conductor.call_at(540 * kMillisecond, {Priority::kFault, 0}, [&world, middle] {
        if (middle) {
          world.transport.set_region_up(1, false);
        } else {
          world.transport.set_link_up(1, 2, false);
        }
      });
      world.conductor.spawn(
          send_at(world, kSecond, {{0, 2, kGigabyte}}, TrafficClass::kFragment, endings[1]), {});
    });
    CHECK(outcome.endings[0].at == 540 * kMillisecond);
    CHECK(outcome.endings[0].status == TransferStatus::kLinkDown);  // its two ends are up
    CHECK(outcome.endings[1].at == kSecond);
    CHECK(outcome.endings[1].status == TransferStatus::kLinkDown);
    CHECK(outcome.lost == 750'000'000);  // 0.5 GB on the first link, 0.25 GB on the second
    CHECK(outcome.bytes_close);
  }
}

TEST_CASE("relay: bulk on a link that is cut far breaks where there is a way round", "[unit][engine]") {
  // A triangle: r0 - r2 at 1 GB/s too. Cut to a half it goes on: 0.5 s and 1 s more at half the rate.
  // Cut to a tenth it breaks; without r1 there is no way round, and it crawls: 0.5 s and 5 s.
  const auto end = [](double factor, bool way_round) {
    return run_forked([=] {
      NetworkOptions options = chain(NetworkModel::kSimgrid);
      options.links[1].bytes_per_s = 1e9;
      options.links.push_back({"r0", "r2", 1e9, 0});
      World world(options);
      if (!way_round) world.transport.set_region_up(1, false);
      Ending ending;
      world.conductor.spawn(send_at(world, 0, {{0, 2, kGigabyte}}, TrafficClass::kFragment, ending),
                            {});
      world.conductor.call_at(500 * kMillisecond, {Priority::kFault, 0}, [&world, factor] {
        world.transport.set_link_rate_factor(0, 2, factor);
      });
      world.conductor.run();
      if (!world.ledger.closes()) throw std::logic_error("bytes do not close");
      return ending;
    });
  };
  CHECK(end(0.5, true).at == 1'500 * kMillisecond);
  CHECK(end(0.1, true).at == 500 * kMillisecond);
  CHECK(end(0.1, true).status == TransferStatus::kLinkDown);
  CHECK(end(0.1, false).at == 5'500 * kMillisecond);
}

Process two_on_the_heels(World& world, Ending& ending, Nanoseconds left_at) {
  std::vector<Hop> second(1, Hop{0, 1, kGigabyte});
  co_await world.transport.send({0, 1, kGigabyte}, TrafficClass::kFragment, {});
  ending.status = co_await world.transport.exchange(
      std::move(second), TrafficClass::kFragment, {}, base::kNever, left_at);
  ending.at = world.conductor.now();
}

TEST_CASE("transport: bytes that follow others on their heels pay no second delay", "[unit][engine]") {
  // 10 ms and 1 s for the first; the second was there to leave at 0.5 s, at 1.005 s, or only now.
  const auto end = [](Nanoseconds left_at) {
    return simulate(NetworkModel::kClosedForm, [left_at](World& world, auto& endings) {
             world.conductor.spawn(two_on_the_heels(world, endings[0], left_at), {});
           })
        .endings[0]
        .at;
  };
  CHECK(end(500 * kMillisecond) == 2'010 * kMillisecond);
  CHECK(end(1'005 * kMillisecond) == 2'015 * kMillisecond);
  CHECK(end(base::kNever) == 2'020 * kMillisecond);
}

TEST_CASE("transport: paths as they are at present", "[unit][engine]") {
  World world(chain(NetworkModel::kClosedForm));
  const Transport& transport = world.transport;
  CHECK(transport.reachable(0, 2));
  CHECK_FALSE(transport.has_link(0, 2));
  CHECK(transport.path_one_way(0, 2) == 40 * kMillisecond);
  CHECK(transport.path_bytes_per_s(2, 0) == 5e8);
  CHECK(transport.duration_alone({0, 2, kGigabyte}) == 2'040 * kMillisecond);
  world.transport.set_link_rate_factor(0, 1, 0.25);
  CHECK(transport.path_bytes_per_s(2, 0) == 2.5e8);
  const auto plan = transport.plan({0, 2}, kGigabyte);
  CHECK(transport.plan({0, 2}, kGigabyte) == plan);  // kept while nothing changes
  CHECK(plan->time(kGigabyte) == 4 * kSecond + 80 * kMillisecond);  // 1 GB each way, two delays
  world.transport.set_link_up(1, 2, false);
  CHECK_FALSE(transport.reachable(0, 2));
  CHECK(transport.plan({0, 2}, kGigabyte)->left_out == std::vector<std::uint16_t>{2});
  CHECK_THROWS_WITH(transport.path_one_way(0, 2), "transport: no path 0 - 2");
}

}  // namespace
}  // namespace sim::engine

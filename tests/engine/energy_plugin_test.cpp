// tests/engine/energy_plugin_test.cpp: our joules beside those of SimGrid's energy plugin.
//
// Goal:   the same schedule of busy, waiting and failed chips costs the same joules.
// Method: two hosts with watts per state live through it under sg_host_energy; the ledger reads it
//         off a tape. Idle and stalled differ by the host's idle watts.
// Teeth:  seen failing with a stall share of 0.21 in the ledger and with the failed time at full watts.
#include <simgrid/plugins/energy.h>
#include <simgrid/s4u.hpp>
#include <xbt/log.h>

#include <catch2/catch.hpp>

#include "sim/readers/energy.h"
#include "tests/engine/run_forked.h"

namespace sim::engine {
namespace {

namespace s4u = simgrid::s4u;
using base::kSecond;
using base::Nanoseconds;

constexpr double kFlops = 1e9;

struct Joules {
  double first, second;
};

// First host, 100 W: busy to 10 s, stalled at 20 W to 15 s, off at 5 W to 19 s, busy to 22 s.
// Second, 300 W: idle at 30 W to 7 s, busy to 22 s.
Joules by_simgrid() {
  std::vector<char> name = {'t', 'e', 's', 't', '\0'};
  std::vector<char*> arguments = {name.data(), nullptr};
  int count = 1;
  s4u::Engine engine(&count, arguments.data());
  sg_host_energy_plugin_init();
  xbt_log_control_set("host_energy.thres:error");
  s4u::NetZone* zone = s4u::create_full_zone("zone");
  s4u::Host* first = zone->create_host("first", kFlops);
  s4u::Host* second = zone->create_host("second", kFlops);
  s4u::Host* watcher = zone->create_host("watcher", kFlops);
  // Idle : any load : all cores.
  first->set_property("wattage_per_state", "20:100:100")->set_property("wattage_off", "5")->seal();
  second->set_property("wattage_per_state", "30:300:300")->set_property("wattage_off", "15")->seal();
  watcher->set_property("wattage_per_state", "0:0:0")->seal();
  zone->seal();
  s4u::Actor::create("early", first, [] { s4u::this_actor::execute(10 * kFlops); });
  s4u::Actor::create("second", second, [] {
    s4u::this_actor::sleep_until(7);
    s4u::this_actor::execute(15 * kFlops);
  });
  s4u::Actor::create("watcher", watcher, [first] {
    s4u::this_actor::sleep_until(15);
    first->turn_off();
    s4u::this_actor::sleep_until(19);
    first->turn_on();
    s4u::Actor::create("late", first, [] { s4u::this_actor::execute(3 * kFlops); });
    s4u::this_actor::sleep_until(22);
  });
  engine.run();
  sg_host_energy_update_all();
  return {sg_host_get_consumed_energy(first), sg_host_get_consumed_energy(second)};
}

tape::StepsDone one_step(std::uint16_t learner, std::uint32_t number, Nanoseconds start,
                         Nanoseconds period) {
  return {start, period, period, number, 1, 100, number, learner, 1};
}

// The same schedule on two learners of one chip each.
double by_ledger() {
  tape::RunShape shape;
  shape.regions = {"here"};
  shape.islands = {"a", "b"};
  shape.slices = {{"a/slice-1", 0, 0, 0, 1, 0, 1, 100, 100'000},
                  {"b/slice-1", 1, 0, 1, 1, 1, 1, 100, 300'000}};
  shape.learners = {{"a", 0, {0}, 1}, {"b", 0, {1}, 1}};
  shape.chips = 2;
  readers::ActivityLedger ledger(shape);
  using tape::Activity;
  using tape::SliceState;
  for (const tape::Fact& fact : std::vector<tape::Fact>{
           {0, tape::ActivityChanged{0, Activity::kStepping}},
           {7 * kSecond, tape::ActivityChanged{1, Activity::kStepping}},
           {10 * kSecond, one_step(0, 1, 0, 10 * kSecond)},
           {10 * kSecond, tape::ActivityChanged{0, Activity::kWaitingForNetwork}},
           {15 * kSecond, tape::SliceChanged{0, SliceState::kFailed}},
           {19 * kSecond, tape::SliceChanged{0, SliceState::kJoined}},
           {19 * kSecond, tape::ActivityChanged{0, Activity::kStepping}},
           {22 * kSecond, one_step(0, 2, 19 * kSecond, 3 * kSecond)},
           {22 * kSecond, one_step(1, 1, 7 * kSecond, 15 * kSecond)}}) {
    ledger.on(fact);
  }
  readers::EnergyOptions options;
  options.idle = 0.1;
  options.off = 0.05;
  options.host_w = 0;
  options.pue = 1;
  return readers::energy(shape, options, 0.2, ledger.snapshot(22 * kSecond), {}, 0)->total;
}

TEST_CASE("energy: SimGrid's plugin and the ledger count the same joules", "[unit][engine]") {
  const Joules plugin = run_forked(by_simgrid);
  // By hand: 13 s of 100 W, 5 s of 20 W, 4 s of 5 W; 7 s of 30 W, 15 s of 300 W.
  CHECK_THAT(plugin.first, Catch::Matchers::WithinRel(1420.0, 1e-9));
  CHECK_THAT(plugin.second, Catch::Matchers::WithinRel(4710.0, 1e-9));
  CHECK_THAT(by_ledger(),
             Catch::Matchers::WithinRel(plugin.first + plugin.second, 1e-9));
}

}  // namespace
}  // namespace sim::engine

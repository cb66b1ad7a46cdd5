// tests/engine/conductor_test.cpp: the agenda's order, and what killing a process does.
//
// Goal:   everything at one date happens in the order (priority, order, sequence); a process can be
//         killed at any point, from anywhere, and leaves nothing behind.
// Method: short processes that write letters into a log; no network.
// Teeth:  seen failing with the priority or the order left out of the rank, the sequence turned
//         round, the cancel of a killed newcomer's start removed (a dead frame was resumed: crash),
//         frames destroyed by index at the end, kill of the running process not deferred (crash),
//         stuck_ never set, and dead entries never swept.
#include "sim/engine/conductor.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <stdexcept>
#include <string>

namespace sim::engine {
namespace {

using base::kSecond;

struct Fixture {
  std::unique_ptr<FlowNetwork> network = make_no_network();
  Conductor conductor{*network};
  std::string log;
};

// Writes its letter when its frame dies.
struct Mourner {
  std::string& log;
  char letter;
  ~Mourner() { log += letter; }
};

Process write_at(Fixture& world, Nanoseconds date, Turn turn, char letter) {
  co_await world.conductor.sleep_until(date, turn);
  world.log += letter;
}

TEST_CASE("conductor: one date goes by priority, then order, then sequence", "[unit][engine]") {
  Fixture world;
  const auto spawn = [&](Turn turn, char letter) {
    world.conductor.spawn(write_at(world, kSecond, turn, letter), {});
  };
  spawn({Priority::kMark, 0}, 'f');
  spawn({Priority::kDecision, 0}, 'e');
  spawn({Priority::kStep, 7}, 'b');
  spawn({Priority::kStep, 2}, 'a');
  spawn({Priority::kFault, 0}, 'd');
  spawn({Priority::kArrival, 1}, 'c');
  spawn({Priority::kMark, 0}, 'g');  // the same turn as f: first come, first served
  CHECK(world.conductor.run() == Conductor::Outcome::kStuck);
  CHECK(world.log == "abcdefg");
  CHECK(world.conductor.now() == kSecond);
  CHECK(world.conductor.event_count() == 14);  // 7 starts and 7 ends of sleep
}

TEST_CASE("conductor: an entry made during a date takes its turn in that date", "[unit][engine]") {
  Fixture world;
  Conductor& conductor = world.conductor;
  conductor.call_at(kSecond, {Priority::kStep, 0}, [&] {
    world.log += 'a';
    conductor.call_at(kSecond, {Priority::kMark, 0}, [&] { world.log += 'd'; });
    conductor.call_at(kSecond, {Priority::kArrival, 0}, [&] { world.log += 'b'; });
  });
  conductor.call_at(kSecond, {Priority::kDecision, 0}, [&] { world.log += 'c'; });
  conductor.call_at(kSecond, {Priority::kDecision, 0}, [&] { world.log += 'C'; });  // entered later
  conductor.run();
  CHECK(world.log == "abcCd");
}

TEST_CASE("conductor: cancelled calls never come and dates in the past are refused",
          "[unit][engine]") {
  Fixture world;
  Conductor& conductor = world.conductor;
  const WakeId dropped = conductor.call_at(kSecond, {}, [&] { world.log += 'x'; });
  conductor.call_at(2 * kSecond, {}, [&] {
    conductor.cancel(dropped);  // long gone: nothing happens
    CHECK_THROWS_WITH(conductor.call_at(kSecond, {}, [] {}), "conductor: a date in the past");
    world.log += 'a';
  });
  conductor.cancel(dropped);
  conductor.cancel(WakeId{});
  conductor.run();
  CHECK(world.log == "a");
}

TEST_CASE("conductor: waking a process from outside one is refused", "[unit][engine]") {
  Fixture world;
  CHECK_THROWS_WITH(world.conductor.wake_at(0, {}, std::noop_coroutine()),
                    "conductor: no process is running");
}

// --- Killing ---

Process mourn(Fixture& world, Nanoseconds sleep, char letter) {
  const Mourner mourner{world.log, letter};
  co_await world.conductor.sleep_for(sleep, {});
  world.log += '!';
}

TEST_CASE("conductor: a kill from outside destroys the frame at once", "[unit][engine]") {
  Fixture world;
  const ProcessId victim = world.conductor.spawn(mourn(world, 10 * kSecond, 'v'), {});
  world.conductor.call_at(kSecond, {}, [&] {
    CHECK(world.conductor.alive(victim));
    world.conductor.kill(victim);
    CHECK(world.log == "v");
    CHECK_FALSE(world.conductor.alive(victim));
    world.conductor.kill(victim);  // a second time: nothing
  });
  world.conductor.run();
  CHECK(world.log == "v");
  CHECK(world.conductor.now() == kSecond);  // its sleep is off the agenda
}

TEST_CASE("conductor: a process killed before its first turn never runs", "[unit][engine]") {
  Fixture world;
  world.conductor.call_at(kSecond, {}, [&] {
    const ProcessId newcomer = world.conductor.spawn(mourn(world, 0, 'n'), {});
    world.conductor.kill(newcomer);
  });
  world.conductor.run();
  CHECK(world.log.empty());
}

struct SelfKiller {
  Fixture& world;
  ProcessId self;
};

Task<> kill_within(SelfKiller& killer) {
  const Mourner mourner{killer.world.log, 'i'};
  killer.world.conductor.kill(killer.self);
  killer.world.log += 'a';  // still running, until it waits
  CHECK_FALSE(killer.world.conductor.alive(killer.self));
  co_await killer.world.conductor.sleep_for(kSecond, {});
  killer.world.log += '!';
}

Process kill_self(SelfKiller& killer) {
  const Mourner mourner{killer.world.log, 'o'};
  co_await kill_within(killer);
  killer.world.log += '!';
}

TEST_CASE("conductor: a process that kills itself dies at its next wait, inside out",
          "[unit][engine]") {
  Fixture world;
  SelfKiller killer{world, {}};
  killer.self = world.conductor.spawn(kill_self(killer), {});
  world.conductor.run();
  CHECK(world.log == "aio");
  CHECK(world.conductor.now() == 0);
}

Task<int> innermost(Fixture& world) {
  const Mourner mourner{world.log, '1'};
  co_await world.conductor.sleep_for(kSecond, {});
  co_return 1;
}
Task<int> middle(Fixture& world) {
  const Mourner mourner{world.log, '2'};
  co_return co_await innermost(world);
}
Process outermost(Fixture& world) {
  const Mourner mourner{world.log, '3'};
  const int result = co_await middle(world);
  world.log += static_cast<char>('A' + result);
}

TEST_CASE("conductor: a kill within nested tasks runs destructors from the inside out",
          "[unit][engine]") {
  Fixture world;
  const ProcessId victim = world.conductor.spawn(outermost(world), {});
  world.conductor.call_at(kSecond / 2, {}, [&] { world.conductor.kill(victim); });
  world.conductor.run();
  CHECK(world.log == "123");
}

TEST_CASE("conductor: nested tasks hand their values up", "[unit][engine]") {
  Fixture world;
  world.conductor.spawn(outermost(world), {});
  world.conductor.run();
  CHECK(world.log == "12B3");
}

struct Heir {
  Fixture& world;
  ~Heir() { world.conductor.spawn(write_at(world, world.conductor.now() + kSecond, {}, 'h'), {}); }
};
Process with_heir(Fixture& world) {
  const Heir heir{world};
  co_await world.conductor.sleep_for(10 * kSecond, {});
}

TEST_CASE("conductor: a destructor may spawn", "[unit][engine]") {
  Fixture world;
  const ProcessId first = world.conductor.spawn(with_heir(world), {});
  world.conductor.call_at(kSecond, {}, [&] { world.conductor.kill(first); });
  world.conductor.run();
  CHECK(world.log == "h");
  CHECK(world.conductor.now() == 2 * kSecond);
}

TEST_CASE("conductor: at the end processes die in the order of their start", "[unit][engine]") {
  Fixture world;
  const ProcessId early = world.conductor.spawn(mourn(world, kSecond, 'x'), {});
  world.conductor.spawn(mourn(world, 10 * kSecond, 'a'), {});
  world.conductor.spawn(with_heir(world), {});  // its heir never gets a turn
  world.conductor.call_at(kSecond / 2, {}, [&] {
    world.conductor.kill(early);
    // Takes the place of the dead one in memory, in front of the older ones.
    world.conductor.spawn(mourn(world, 10 * kSecond, 'b'), {});
  });
  world.conductor.call_at(2 * kSecond, {}, [&] { world.conductor.stop(); });
  CHECK_FALSE(world.conductor.tearing_down());
  CHECK(world.conductor.run() == Conductor::Outcome::kStopped);
  CHECK(world.log == "xab");
  CHECK(world.conductor.tearing_down());
  CHECK_THROWS_WITH(world.conductor.run(), "conductor: a second run");
}

// --- Signals ---

Process await_signal(Fixture& world, Signal& signal, Turn turn, Nanoseconds date, char letter) {
  const bool notified = co_await signal.wait_until(date, turn);
  world.log += letter;
  world.log += notified ? '+' : '-';
}

TEST_CASE("signal: notify wakes all on their turns, a deadline that passed says so",
          "[unit][engine]") {
  Fixture world;
  Signal signal(world.conductor);
  const auto spawn = [&](std::uint32_t order, Nanoseconds date, char letter) {
    world.conductor.spawn(await_signal(world, signal, {Priority::kStep, order}, date, letter), {});
  };
  spawn(3, base::kNever, 'c');
  spawn(1, 10 * kSecond, 'a');
  spawn(2, kSecond, 'b');  // its date comes first
  world.conductor.call_at(2 * kSecond, {}, [&] { signal.notify(); });
  world.conductor.call_at(3 * kSecond, {}, [&] { signal.notify(); });  // nobody waits now
  CHECK(world.conductor.run() == Conductor::Outcome::kStuck);
  CHECK(world.log == "b-a+c+");
  CHECK(world.conductor.now() == 3 * kSecond);  // the cut waits left no date behind
}

Process wait_twice(Fixture& world, Signal& signal) {
  auto first = signal.wait_until(kSecond, {});  // outlives its own wait
  world.log += (co_await first) ? '+' : '-';
  world.log += (co_await signal.wait({})) ? '+' : '-';
}

TEST_CASE("signal: a wait that is over is told nothing more", "[unit][engine]") {
  Fixture world;
  Signal signal(world.conductor);
  world.conductor.spawn(wait_twice(world, signal), {});
  world.conductor.call_at(2 * kSecond, {}, [&] { signal.notify(); });
  world.conductor.run();
  CHECK(world.log == "-+");
}

TEST_CASE("signal: whoever is killed while waiting is off its list", "[unit][engine]") {
  Fixture world;
  Signal signal(world.conductor);
  const ProcessId victim =
      world.conductor.spawn(await_signal(world, signal, {}, base::kNever, 'v'), {});
  world.conductor.spawn(await_signal(world, signal, {}, base::kNever, 's'), {});
  world.conductor.call_at(kSecond, {}, [&] {
    world.conductor.kill(victim);
    signal.notify();
  });
  world.conductor.run();
  CHECK(world.log == "s+");
}

TEST_CASE("signal: one may die before who waits on it", "[unit][engine]") {
  Fixture world;
  auto signal = std::make_unique<Signal>(world.conductor);
  world.conductor.spawn(await_signal(world, *signal, {}, 2 * kSecond, 'w'), {});
  world.conductor.call_at(kSecond, {}, [&] { signal.reset(); });
  world.conductor.run();
  CHECK(world.log == "w-");
}

// --- Trouble ---

Task<> fail_inside(Fixture& world) {
  co_await world.conductor.sleep_for(kSecond, {});
  throw std::runtime_error("from within");
}
Process fail(Fixture& world) {
  const Mourner mourner{world.log, 'f'};
  co_await fail_inside(world);
}

TEST_CASE("conductor: an exception leaves run(), and all processes are dead then",
          "[unit][engine]") {
  Fixture world;
  world.conductor.spawn(mourn(world, 10 * kSecond, 'a'), {});
  world.conductor.spawn(fail(world), {});
  CHECK_THROWS_WITH(world.conductor.run(), "from within");
  CHECK(world.log == "fa");
}

TEST_CASE("conductor: an exception of a callback leaves run() too", "[unit][engine]") {
  Fixture world;
  world.conductor.call_at(kSecond, {}, [] { throw std::runtime_error("called"); });
  CHECK_THROWS_WITH(world.conductor.run(), "called");
}

TEST_CASE("conductor: a wait that nothing can end is noticed", "[unit][engine]") {
  Fixture world;
  Signal signal(world.conductor);
  world.conductor.spawn(await_signal(world, signal, {}, base::kNever, 'x'), {});
  CHECK(world.conductor.run() == Conductor::Outcome::kStuck);
  CHECK(world.log.empty());
}

// --- Memory ---

struct Cycle {
  Fixture& world;
  Signal& signal;
  int left;
  std::size_t agenda_size_max = 0;
};

Process live(Cycle& cycle) {
  // A far date that is never reached: the entry dies with the process, long before its date.
  co_await cycle.signal.wait_until(base::kHour * 1000, {});
}

Process restart_again_and_again(Cycle& cycle) {
  Conductor& conductor = cycle.world.conductor;
  while (cycle.left-- > 0) {
    const ProcessId victim = conductor.spawn(live(cycle), {});
    co_await conductor.sleep_for(base::kMillisecond, {});
    conductor.kill(victim);
    cycle.agenda_size_max = std::max(cycle.agenda_size_max, conductor.agenda_size());
  }
}

TEST_CASE("conductor: 100,000 kills and restarts leave no slot and few dead entries behind",
          "[unit][engine]") {
  Fixture world;
  Signal signal(world.conductor);
  Cycle cycle{world, signal, 100'000};
  world.conductor.spawn(restart_again_and_again(cycle), {});
  world.conductor.run();
  CHECK(world.conductor.slot_count() <= 4);       // driver, victim's start, victim's wait
  CHECK(cycle.agenda_size_max <= 1'100);          // swept above 1,024 dead, when they prevail
  CHECK(world.conductor.event_count() == 200'001);
}

}  // namespace
}  // namespace sim::engine

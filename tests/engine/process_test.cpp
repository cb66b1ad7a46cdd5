// tests/engine/process_test.cpp: what methods may write in coroutines with this compiler.
//
// Goal:   every object in a coroutine dies exactly once, and tasks that never wait do not pile up
//         on the stack, in any build type.
// Method: counted objects in the places where compilers have had bugs: temporaries of an awaited
//         expression, parameters, conditions, loops.
// Teeth:  built with -O0, the loop over a million tasks was seen overflowing the stack with symmetric
//         transfer, and with a task that resumes its caller though it never waited.
#include "sim/engine/process.h"

#include <catch2/catch.hpp>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/engine/conductor.h"

namespace sim::engine {
namespace {

struct Counted {
  explicit Counted(int* living_count) : living(living_count) { ++*living; }
  Counted(const Counted& other) : living(other.living) { ++*living; }
  Counted(Counted&& other) noexcept : living(other.living) { ++*living; }
  Counted& operator=(const Counted&) = default;
  ~Counted() { --*living; }
  int* living;
};

Task<std::string> name_of(Conductor& conductor, Counted by_value, std::vector<Counted> several,
                          Nanoseconds sleep) {
  if (sleep > 0) co_await conductor.sleep_for(sleep, {});
  co_return std::to_string(*by_value.living) + "/" + std::to_string(several.size());
}

struct Fixture {
  std::unique_ptr<FlowNetwork> network = make_no_network();
  Conductor conductor{*network};
  std::string log;
  int living = 0;
};

Process temporaries(Fixture& world, Nanoseconds sleep) {
  const Counted local(&world.living);
  for (int i = 0; i < 3; ++i) {
    if (co_await name_of(world.conductor, Counted(&world.living),
                         std::vector<Counted>(2, Counted(&world.living)), sleep) != "") {
      world.log += std::to_string(world.living);  // only `local` is left
    }
  }
}

TEST_CASE("process: temporaries of an awaited expression die exactly once", "[unit][engine]") {
  for (const Nanoseconds sleep : {Nanoseconds{0}, base::kSecond}) {
    Fixture world;
    world.conductor.spawn(temporaries(world, sleep), {});
    world.conductor.run();
    CHECK(world.living == 0);
    CHECK(world.log.size() == 3);
  }
}

TEST_CASE("process: a kill while temporaries wait destroys each once", "[unit][engine]") {
  Fixture world;
  const ProcessId victim = world.conductor.spawn(temporaries(world, base::kSecond), {});
  world.conductor.call_at(base::kSecond / 2, {}, [&] {
    CHECK(world.living > 1);
    world.conductor.kill(victim);
    CHECK(world.living == 0);
  });
  world.conductor.run();
  CHECK(world.living == 0);
}

Task<int> at_once(int value) { co_return value; }

Process add_up(std::int64_t& sum, int count) {
  for (int i = 0; i < count; ++i) sum += co_await at_once(1);
}

TEST_CASE("process: a million tasks that never wait need no stack", "[unit][engine]") {
  Fixture world;
  std::int64_t sum = 0;
  world.conductor.spawn(add_up(sum, 1'000'000), {});
  world.conductor.run();
  CHECK(sum == 1'000'000);
}

Task<int> throws_at_once() {
  throw std::runtime_error("at once");
  co_return 0;
}

Process catches(Fixture& world) {
  try {
    co_await throws_at_once();
  } catch (const std::runtime_error& error) {
    world.log = error.what();
  }
  co_await world.conductor.sleep_for(1, {});
  world.log += ", then on";
}

TEST_CASE("process: a task's exception reaches who awaits it", "[unit][engine]") {
  Fixture world;
  world.conductor.spawn(catches(world), {});
  world.conductor.run();
  CHECK(world.log == "at once, then on");
}

Task<std::unique_ptr<int>> move_only() { co_return std::make_unique<int>(7); }
Process take(int& result) { result = *co_await move_only(); }

TEST_CASE("process: a task may return what can only be moved", "[unit][engine]") {
  Fixture world;
  int result = 0;
  world.conductor.spawn(take(result), {});
  world.conductor.run();
  CHECK(result == 7);
}

TEST_CASE("process: one that was never spawned frees its frame", "[unit][engine]") {
  Fixture world;
  { const Process unused = temporaries(world, 0); }
  CHECK(world.living == 0);
}

}  // namespace
}  // namespace sim::engine

// sim/chaos/age_clocks.h: clocks that stand still and go on, and the units that fail by them.
//
// A clock keeps one sum of the time for which it ran, and a queue of the dates, on that sum, at which
// its units fail; so starting or stopping it costs one queue operation however many units it has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "sim/engine/conductor.h"

namespace sim::chaos {

class AgeClocks {
 public:
  // `fail(unit)` is called at the date at which a unit's age reaches its failure; it must renew the unit.
  AgeClocks(engine::Conductor& conductor, std::function<void(std::size_t unit)> fail)
      : conductor_(conductor), fail_(std::move(fail)) {}

  // A new clock, which stands still; clocks count from 0.
  std::size_t add_clock(bool running = false);
  void set_running(std::size_t clock, bool running);

  // `unit` ages by `clock` and fails when it is older by `until_failure`; it waits until resumed.
  void add_unit(std::size_t unit, std::size_t clock, base::Nanoseconds until_failure);
  // After a failure: how much older the unit gets before the next one. A waiting unit goes on waiting.
  void renew(std::size_t unit, base::Nanoseconds until_failure);
  // A unit that waits does not age, whatever its clock does. Doing either twice changes nothing.
  void resume(std::size_t unit);
  void pause(std::size_t unit);

 private:
  struct Entry {
    base::Nanoseconds date;  // on the clock's sum
    std::size_t unit;
    std::uint32_t generation;
    bool operator>(const Entry& other) const {
      return date != other.date ? date > other.date : unit > other.unit;
    }
  };
  struct Clock {
    base::Nanoseconds sum = 0;  // until `since`
    base::Nanoseconds since = 0;
    bool running = false;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    engine::WakeId wake;
  };
  struct Unit {
    std::size_t clock = 0;
    base::Nanoseconds left = 0;  // still to go while it waits
    base::Nanoseconds date = 0;  // on the clock's sum while it does not
    std::uint32_t generation = 0;
    bool waiting = true;
  };

  base::Nanoseconds now_of(const Clock& clock) const;
  void enqueue(std::size_t unit);
  void arm(std::size_t clock);
  void ring(std::size_t clock);

  engine::Conductor& conductor_;
  std::function<void(std::size_t)> fail_;
  std::vector<Clock> clocks_;
  std::vector<Unit> units_;
};

}  // namespace sim::chaos

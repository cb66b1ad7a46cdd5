// sim/chaos/age_clocks.cpp: see age_clocks.h.
#include "sim/chaos/age_clocks.h"

#include <algorithm>

namespace sim::chaos {

using base::Nanoseconds;

std::size_t AgeClocks::add_clock(bool running) {
  Clock& clock = clocks_.emplace_back();
  clock.since = conductor_.now();
  clock.running = running;
  return clocks_.size() - 1;
}

Nanoseconds AgeClocks::now_of(const Clock& clock) const {
  return clock.sum + (clock.running ? conductor_.now() - clock.since : 0);
}

void AgeClocks::set_running(std::size_t index, bool running) {
  Clock& clock = clocks_[index];
  if (clock.running == running) return;
  clock.sum = now_of(clock);
  clock.since = conductor_.now();
  clock.running = running;
  arm(index);
}

void AgeClocks::add_unit(std::size_t unit, std::size_t clock, Nanoseconds until_failure) {
  if (unit >= units_.size()) units_.resize(unit + 1);
  units_[unit].clock = clock;
  units_[unit].left = until_failure;
}

void AgeClocks::renew(std::size_t unit, Nanoseconds until_failure) {
  units_[unit].left = until_failure;
  if (!units_[unit].waiting) enqueue(unit);
}

void AgeClocks::resume(std::size_t unit) {
  if (!units_[unit].waiting) return;
  units_[unit].waiting = false;
  enqueue(unit);
}

// A life of kNever never ends, and takes no place in the queue. An entry that the unit has there is
// dead from now on.
void AgeClocks::enqueue(std::size_t index) {
  Unit& unit = units_[index];
  Clock& clock = clocks_[unit.clock];
  ++unit.generation;
  unit.date = unit.left >= base::kNever ? base::kNever : now_of(clock) + unit.left;
  if (unit.date < base::kNever) clock.queue.push({unit.date, index, unit.generation});
  arm(unit.clock);
}

void AgeClocks::pause(std::size_t index) {
  Unit& unit = units_[index];
  if (unit.waiting) return;
  unit.waiting = true;
  unit.left = unit.date >= base::kNever ? base::kNever : unit.date - now_of(clocks_[unit.clock]);
  ++unit.generation;  // its entry in the queue is dead
  arm(unit.clock);
}

// Failures strike before faults that end at the same date, whichever clock brings them.
void AgeClocks::arm(std::size_t index) {
  Clock& clock = clocks_[index];
  conductor_.cancel(clock.wake);
  clock.wake = {};
  while (!clock.queue.empty() &&
         units_[clock.queue.top().unit].generation != clock.queue.top().generation) {
    clock.queue.pop();
  }
  if (!clock.running || clock.queue.empty()) return;
  const Nanoseconds left = clock.queue.top().date - now_of(clock);
  clock.wake = conductor_.call_at(conductor_.now() + std::max<Nanoseconds>(0, left),
                                  {engine::Priority::kFault, 0}, [this, index] { ring(index); });
}

void AgeClocks::ring(std::size_t index) {
  clocks_[index].wake = {};
  fail_(clocks_[index].queue.top().unit);  // renews the unit, which sets the clock's next alarm
}

}  // namespace sim::chaos

// sim/chaos/exposure_clock.h: the stepping clock: a slice ages only while its learner steps with it.
//
// Kept per learner as one sum of stepping time and a queue of the dates, on that sum, at which its
// joined slices fail; so a change costs one queue operation however many chips there are.
// Source: the paper's simulation draws failures per executed step (facts 2.6).
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "sim/engine/conductor.h"
#include "sim/tape/fact.h"
#include "sim/tape/run_shape.h"

namespace sim::chaos {

class ExposureClock {
 public:
  // `fail(unit)` is called at the date at which a unit's exposure reaches its failure.
  ExposureClock(engine::Conductor& conductor, const tape::RunShape& shape,
                std::function<void(std::size_t unit)> fail);

  // `unit` lives on `slice` and fails when it has been exposed for `until_failure` more.
  void add(std::size_t unit, std::uint32_t slice, base::Nanoseconds until_failure);
  // After a failure: the time from it to the next one, in exposure.
  void renew(std::size_t unit, base::Nanoseconds until_failure);

  void on(const tape::Fact& fact);

 private:
  struct Entry {
    base::Nanoseconds date;  // on the learner's sum
    std::size_t unit;
    std::uint32_t generation;
    bool operator>(const Entry& other) const {
      return date != other.date ? date > other.date : unit > other.unit;
    }
  };
  struct LearnerClock {
    base::Nanoseconds sum = 0;    // stepping time until `since`
    base::Nanoseconds since = 0;
    bool stepping = false;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    engine::WakeId wake;
  };
  struct UnitClock {
    std::uint32_t slice = 0;
    base::Nanoseconds left = 0;   // exposure still to go while it is not in the queue
    base::Nanoseconds date = 0;   // on the learner's sum while it is
    std::uint32_t generation = 0;
    bool queued = false;
  };

  base::Nanoseconds now_of(const LearnerClock& clock) const;
  void enqueue(std::size_t unit);
  void dequeue(std::size_t unit);
  void arm(std::uint16_t learner);
  void ring(std::uint16_t learner);

  engine::Conductor& conductor_;
  const tape::RunShape& shape_;
  std::function<void(std::size_t)> fail_;
  std::vector<LearnerClock> learners_;
  std::vector<UnitClock> units_;
  std::vector<std::vector<std::size_t>> units_of_slice_;
  std::vector<char> slice_joined_;
};

}  // namespace sim::chaos

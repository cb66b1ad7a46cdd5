// sim/chaos/exposure_clock.h: the stepping clock: what is not worked with does not age.
//
// A target is exposed while at least one joined slice of it belongs to a learner that steps: a chip or
// slice by itself, an island or region by the slices in it, a link by those of the regions at its ends.
// Slices that an arm does not use never step, so an unused island never ages.
// Source: the paper's simulation draws failures per executed step (facts 2.6); for targets larger than
// a slice ours: the smallest rule that is the paper's where the target is one slice.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "sim/chaos/age_clocks.h"
#include "sim/tape/fact.h"
#include "sim/tape/run_shape.h"

namespace sim::chaos {

class ExposureClock {
 public:
  // `fail(unit)` is called at the date at which a unit's exposure reaches its failure.
  ExposureClock(engine::Conductor& conductor, const tape::RunShape& shape,
                std::function<void(std::size_t unit)> fail);

  // `unit` is one slice, and fails when it has been exposed for `until_failure` more.
  void add_slice(std::size_t unit, std::uint32_t slice, base::Nanoseconds until_failure);
  // `unit` holds or joins these slices: an island, a region, a link.
  void add_place(std::size_t unit, const std::vector<std::uint32_t>& slices,
                 base::Nanoseconds until_failure);
  // After a failure: the time from it to the next one, in exposure.
  void renew(std::size_t unit, base::Nanoseconds until_failure) { clocks_.renew(unit, until_failure); }

  void on(const tape::Fact& fact);

 private:
  // What one learner has of one place.
  struct Share {
    std::size_t place;
    std::uint16_t learner;
    std::uint32_t joined;  // slices
  };
  struct Place {
    std::size_t clock;
    std::uint32_t stepping = 0;  // shares of stepping learners with joined slices
  };

  void change_activity(const tape::ActivityChanged& change);
  void change_slice(const tape::SliceChanged& change);
  void count(std::size_t place, int change);

  const tape::RunShape& shape_;
  AgeClocks clocks_;  // the first are the learners'
  std::vector<char> learner_steps_, slice_joined_;
  std::vector<std::vector<std::size_t>> units_of_slice_;
  std::vector<Place> places_;
  std::vector<Share> shares_;
  std::vector<std::vector<std::size_t>> shares_of_learner_, shares_of_slice_;
};

}  // namespace sim::chaos

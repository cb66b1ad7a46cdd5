// sim/chaos/uptime_clock.h: the clock of what ages only while it is up.
//
// A target is up while no fault holds it down, its own or another's: a slice those of its chips, its
// island and its region; an island those of its region; a link those of its ends' regions, killed or
// partitioned. So a unit of mean life MTBF and mean repair MTTR is up MTBF / (MTBF + MTTR) of the time.
// A slower link is up. What is held, and from when to when, is physical: a fault that acts on the
// training only at the end of a step holds its target from its own date, in every arm.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "sim/chaos/age_clocks.h"
#include "sim/tape/fact.h"
#include "sim/tape/run_shape.h"

namespace sim::chaos {

class UptimeClock {
 public:
  UptimeClock(engine::Conductor& conductor, const tape::RunShape& shape,
              std::function<void(std::size_t unit)> fail);

  // `unit` fails when this target (no syncer) has been up for `until_failure` more.
  void add(std::size_t unit, tape::TargetKind kind, std::uint32_t target,
           base::Nanoseconds until_failure);
  void renew(std::size_t unit, base::Nanoseconds until_failure) { clocks_.renew(unit, until_failure); }

  // A fault begins now and ends after `lasts`.
  void on_fault(tape::FaultKind fault, tape::TargetKind kind, std::uint32_t target,
                base::Nanoseconds lasts);

 private:
  std::size_t clock_of(tape::TargetKind kind, std::uint32_t target) const;
  std::vector<std::size_t> clocks_held_by(tape::FaultKind fault, tape::TargetKind kind,
                                          std::uint32_t target) const;
  void hold(const std::vector<std::size_t>& clocks, int change);

  engine::Conductor& conductor_;
  const tape::RunShape& shape_;
  AgeClocks clocks_;        // slices, islands, regions, links
  std::vector<int> holds_;  // as clocks_
};

}  // namespace sim::chaos

// sim/readers/recovery_times.h: how long learners took to get their state back, in steps.
//
// A recovery begins when a learner starts to fetch a state (from a peer or from the store) and ends when it
// steps again. One that is broken off by another failure begins anew afterwards and is counted once; one
// that is under way at the end of the run counts as long as it has lasted.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/tape/reader.h"
#include "sim/tape/run_shape.h"

namespace sim::readers {

using base::Nanoseconds;

class RecoveryTimes : public tape::Reader {
 public:
  // bound_steps: H, which a recovery should not exceed; 0: there is none. The shape outlives the reader.
  RecoveryTimes(const tape::RunShape& shape, std::int64_t bound_steps);

  void on(const tape::Fact& fact) override;

  std::int64_t bound_steps() const { return bound_steps_; }
  std::uint64_t beyond_bound() const { return beyond_bound_; }
  // Of the longest recovery, in nominal steps; 0 without any.
  double longest_steps() const;

 private:
  void end(Nanoseconds& since, Nanoseconds now);

  const tape::RunShape& shape_;
  std::int64_t bound_steps_;
  std::vector<Nanoseconds> since_;  // per learner; kNever: none is under way
  Nanoseconds longest_ = 0;
  std::uint64_t beyond_bound_ = 0;
};

}  // namespace sim::readers

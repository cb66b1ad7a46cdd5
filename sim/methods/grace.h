// sim/methods/grace.h: how long the syncer may hold a merge open for late reporters.
#pragma once

#include "sim/methods/training_options.h"

namespace sim::methods {

// Exponential moving average; the first value counts fully.
class Tracked {
 public:
  explicit Tracked(double newest_weight) : weight_(newest_weight) {}
  void add(Nanoseconds value) {
    value_ = known_ ? value_ + weight_ * (static_cast<double>(value) - value_)
                    : static_cast<double>(value);
    known_ = true;
  }
  bool known() const { return known_; }
  Nanoseconds estimate() const { return static_cast<Nanoseconds>(value_); }

 private:
  double weight_;
  double value_ = 0;
  bool known_ = false;
};

struct GraceEstimates {
  Nanoseconds step, quorum, sync;
};

// min( one step, gamma x max(0, tau x step - quorum - sync) ); 0 where no grace is asked for.
// Source: arXiv:2604.21428, section 3.2, Eq. 3; the cap of one step from its section 5.1.
Nanoseconds decide_grace(const TrainingOptions& training, const GraceEstimates& estimates);

// By how much quorum + grace + sync exceeded tau steps; 0 when they fitted.
Nanoseconds grace_overrun(const TrainingOptions& training, Nanoseconds step_estimate,
                          Nanoseconds window);

}  // namespace sim::methods

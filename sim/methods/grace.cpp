// sim/methods/grace.cpp: see grace.h.
#include "sim/methods/grace.h"

#include <algorithm>

namespace sim::methods {

Nanoseconds decide_grace(const TrainingOptions& training, const GraceEstimates& estimates) {
  if (training.grace == GraceKind::kNone) return 0;
  const Nanoseconds slack =
      training.overlap_steps * estimates.step - estimates.quorum - estimates.sync;
  if (slack <= 0) return 0;
  const auto share = static_cast<Nanoseconds>(training.grace_margin * static_cast<double>(slack));
  return std::min(estimates.step, share);
}

Nanoseconds grace_overrun(const TrainingOptions& training, Nanoseconds step_estimate,
                          Nanoseconds window) {
  return std::max<Nanoseconds>(0, window - training.overlap_steps * step_estimate);
}

}  // namespace sim::methods

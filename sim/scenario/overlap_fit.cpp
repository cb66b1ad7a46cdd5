// sim/scenario/overlap_fit.cpp: see overlap_fit.h.
#include "sim/scenario/overlap_fit.h"

#include <algorithm>
#include <cmath>

#include "sim/scenario/step_forecast.h"

namespace sim::scenario {
namespace {

using methods::MethodKind;

// What quorum and grace take of tau, in steps.
double patience_steps(const Arm& arm, std::size_t learners) {
  const methods::TrainingOptions& training = arm.training;
  if (training.method != MethodKind::kDecoupledDiloco || learners < 2) return 0;
  // Reports of learners out of phase come evenly over a step.
  const double quorum =
      static_cast<double>(training.quorum - 1) / static_cast<double>(learners);
  if (training.grace == methods::GraceKind::kNone || training.grace_margin == 0) return quorum;
  return quorum + (1 - 1 / static_cast<double>(learners)) / training.grace_margin;
}

}  // namespace

OverlapFit overlap_fit(const Scenario& scenario, const Arm& arm, const methods::Fleet& fleet,
                       const WideReduce& wide, NominalPlans& plans) {
  std::vector<double> steps = learner_steps_s(scenario, arm.training, fleet, plans);
  std::ranges::sort(steps);
  const bool barriers = methods::meets_at_barriers(arm.training.method);
  // The syncer reckons with the lower median (syncer.cpp).
  const double step = barriers ? steps.back() : steps[(steps.size() - 1) / 2];
  double sync = 0;
  for (std::size_t p = 0; p < fleet.shape.fragment_parameters.size(); ++p) {
    sync = std::max(sync, base::to_seconds(sync_parts(scenario, arm, fleet, wide, p).total()));
  }
  OverlapFit fit;
  fit.needed_steps = sync / step + patience_steps(arm, steps.size());
  const auto most = static_cast<double>(arm.training.sync_every - 1);
  fit.fits = fit.needed_steps <= most;
  const double rounded = std::max(1.0, std::ceil(fit.needed_steps - 1e-9));
  fit.overlap_steps = static_cast<std::int64_t>(std::min(most, rounded));
  return fit;
}

}  // namespace sim::scenario

// sim/methods/diloco.cpp: see diloco.h.
#include "sim/methods/diloco.h"

namespace sim::methods {

void complete(TrainingOptions& training) {
  if (!meets_at_barriers(training.method)) return;
  training.merge = {optim::MergeKind::kAverage, optim::RdaGranularity::kTensor};
  training.quorum = 1;
  training.adoption = Adoption::kPinned;
  if (training.method != MethodKind::kDiloco) return;
  training.fragments = 1;
  training.partition = FragmentPartition::kBalanced;
  training.first_take = 0;
  training.overlap_steps = 0;
  training.mixing = 0;
  training.late = LatePolicy::kBlock;
}

}  // namespace sim::methods

// sim/trainer/evaluation.h: losses of the global model on the held-out set, with their dates.
#pragma once

#include <cstdint>

#include "sim/tape/fact.h"

namespace sim::trainer {

// Mean held-out loss per example of the global parameters at a date. `tokens`: nominal
// tokens consumed by then.
struct Evaluation {
  base::Nanoseconds at = 0;
  std::uint64_t tokens = 0;
  double loss = 0;
};

// The first evaluation whose loss is no finite number; it and all later ones are left out of the results.
struct Divergence {
  base::Nanoseconds at = 0;
  std::uint32_t step = 0;  // largest number of a step that any learner had finished
};

struct MarkLoss {
  tape::MarkKind mark = tape::MarkKind::kTime;
  Evaluation evaluation;  // made at the mark
};

}  // namespace sim::trainer

// sim/methods/diloco.h: DiLoCo as the special case that it is of streaming DiLoCo.
#pragma once

#include "sim/methods/training_options.h"

namespace sim::methods {

// Fills what follows from the method once the keys are read.
//   DiLoCo: one fragment, taken and adopted at the same step, blocking, unmixed:
//     every H steps  Delta = mean of (theta - theta_m);  theta, velocity = outer(theta, Delta);
//                    theta_m = theta
//   Streaming DiLoCo and DiLoCo: plain averaging (both papers).
// Source: arXiv:2311.08105, Algorithm 1; torchft and facts (e) for the inclusion.
void complete(TrainingOptions& training);

}  // namespace sim::methods

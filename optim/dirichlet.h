// optim/dirichlet.h: random shares that sum to 1, and the gamma variates that they are made of.
#pragma once

#include <span>

#include "sim/base/random.h"

namespace optim {

// Natural log of a gamma variate of the given shape and scale 1; a log, because a small shape makes
// variates below the smallest double.
//
//   shape >= 1: d (1 + c z)^3 with d = shape - 1/3, c = 1 / sqrt(9 d), z standard normal,
//               accepted where log u < z^2 / 2 + d - d v + d log v, v = (1 + c z)^3
//   shape < 1:  the variate of shape + 1 times u^(1 / shape)
//
// Requires: shape > 0.
// Random:   three words per attempt (over 95 % are accepted), and one more when shape < 1.
// Source:   Marsaglia & Tsang 2000, "A simple method for generating gamma variables".
double log_gamma_variate(double shape, sim::base::Stream& stream);

// Fills `shares` (K) from the symmetric Dirichlet distribution: gamma variates of shape
// `concentration`, divided by their sum. Mean 1 / K, variance (K - 1) / (K^2 (K concentration + 1)).
//
// Requires: concentration > 0, K > 0.
void draw_dirichlet(double concentration, std::span<double> shares, sim::base::Stream& stream);

}  // namespace optim

// failure_models/normal.h: the standard normal law and its inverse, for lognormal times.
#pragma once

namespace failure_models {

// P(Z <= z). Relative error below 1e-13 for z >= -37 (measured).
// Source: the incomplete gamma function, P(Z <= -|z|) = Q(1/2, z^2 / 2) / 2.
double normal_cumulative(double z);

// The z with P(Z <= z) = lower_probability, given both tails so that neither loses digits.
//
// Requires: both > 0, and their sum 1 up to rounding; else std::invalid_argument.
// Source:   start by Abramowitz and Stegun 26.2.23, then Halley's iteration on normal_cumulative.
double normal_quantile(double lower_probability, double upper_probability);

}  // namespace failure_models

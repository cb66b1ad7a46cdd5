// failure_models/gamma.h: the gamma function and its incomplete ratios.
//
// The mean of a Weibull life and its residual life at equilibrium age are gamma functions. Own
// code for the same reason as sim/base/elementary.h: a library's last digit must not move a date.
#pragma once

namespace failure_models {

// Gamma(x). Relative error below 4e-15 (measured).
//
// Requires: 0 < x <= 171; else std::invalid_argument.
// Source:   Stirling's series at x + n >= 16, taken down by Gamma(x) = Gamma(x + 1) / x.
double gamma_function(double x);

// The regularised incomplete gamma functions P and Q = 1 - P, each with its own relative accuracy.
struct GammaRatio {
  double lower;  // P(a, x) = integral from 0 to x of t^(a - 1) e^-t dt / Gamma(a)
  double upper;  // Q(a, x)
};

// Absolute error below 2e-15; relative error of the smaller of the two below 1e-12, and below
// 1e-13 where it is not the other's complement (measured for a from 0.01 to 101).
//
// Requires: 0 < a <= 101 and x >= 0; else std::invalid_argument.
// Source:   power series below x = a + 1, Legendre's continued fraction above.
GammaRatio gamma_ratio(double a, double x);

}  // namespace failure_models

// failure_models/exponentiated_weibull.h: F(t) = (1 - exp(-(t / scale)^shape))^power, and areas.
//
// With shape above 1 and power below 1 the hazard falls, stays low and rises: the bathtub that
// plain Weibull cannot draw. Mean and equilibrium age need the area under its survival function,
// which has no closed form; it is summed here by a double exponential rule.
//
// Everything is in units of the scale: x = t / scale, y = x^shape.
// Source: Mudholkar and Srivastava 1993 (the law); the quadrature is ours.
#pragma once

namespace failure_models {

struct ExponentiatedWeibull {
  double shape;  // in [0.01, 100]
  double power;  // in [0.01, 1000]

  // 1 - F; all in y, the cumulative hazard of the plain Weibull.
  double survival(double y) const;
  double cumulative(double y) const;
  // The y at which F = lower; given both tails so that neither loses digits.
  double inverse(double lower_probability, double upper_probability) const;

  // Area under the survival function over x from 0 to y^(1 / shape), and from there on. Relative
  // error of each below 1e-12 (measured), at about 300 evaluations of survival().
  double area_below(double y) const;
  double area_above(double y) const;
};

}  // namespace failure_models

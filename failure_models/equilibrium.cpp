// failure_models/equilibrium.cpp: remaining lives of units that were not born at date 0.
//
// A fleet that has run for long fails at a constant rate, one failure per mean life and unit. A
// fleet of new Weibull units does not: with shape 0.7 it fails twice as often in its first days.
// So the first date of each unit is drawn from the law of the remaining life at equilibrium age.
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "failure_models/distribution.h"
#include "failure_models/exponentiated_weibull.h"
#include "failure_models/gamma.h"
#include "failure_models/normal.h"
#include "sim/base/elementary.h"

namespace failure_models {

using sim::base::exponential;
using sim::base::exponential_minus_one;
using sim::base::log_one_plus;
using sim::base::natural_log;
using sim::base::power;

// Weibull: with y = (t / scale)^k the integral is the incomplete gamma ratio P(1 / k, y).
// Lognormal: integral of (1 - F) = t (1 - F(t)) + integral of x f(x), and the last is the mean
// times a lognormal law with mu + sigma^2.
double Distribution::equilibrium_cumulative(double t_s) const {
  if (!(t_s > 0.0)) return 0.0;
  if (cumulative(t_s) < 1e-17) return t_s / options_.mean_s;  // survival is 1 to the last digit
  switch (options_.law) {
    case Law::kConstant: return std::min(1.0, t_s / options_.mean_s);
    case Law::kExponential: return cumulative(t_s);
    case Law::kWeibull: return gamma_ratio(1.0 / options_.shape, hazard(t_s)).lower;
    case Law::kExponentiatedWeibull: {
      const ExponentiatedWeibull unit{options_.shape, options_.power};
      return unit.area_below(hazard(t_s)) * scale_s_ / options_.mean_s;
    }
    case Law::kLognormal: break;
  }
  return t_s / options_.mean_s * survival(t_s) +
         normal_cumulative(log_ratio(t_s) - options_.sigma);
}

double Distribution::equilibrium_survival(double t_s) const {
  if (!(t_s > 0.0)) return 1.0;
  switch (options_.law) {
    case Law::kConstant: return std::max(0.0, 1.0 - t_s / options_.mean_s);
    case Law::kExponential: return survival(t_s);
    case Law::kWeibull: return gamma_ratio(1.0 / options_.shape, hazard(t_s)).upper;
    case Law::kExponentiatedWeibull: {
      const ExponentiatedWeibull unit{options_.shape, options_.power};
      return unit.area_above(hazard(t_s)) * scale_s_ / options_.mean_s;
    }
    case Law::kLognormal: break;
  }
  return normal_cumulative(options_.sigma - log_ratio(t_s)) -
         t_s / options_.mean_s * survival(t_s);
}

// Newton's iteration from t = u mean, which is never past the root because the density never
// exceeds 1 / mean. The cumulative function is concave, so below the median the steps climb
// towards the root without passing it; above, the logarithm of the tail is the straighter curve,
// and a step that leaves the bracket is replaced by a bisection.
double Distribution::equilibrium_quantile(double u) const {
  if (!(u > 0.0 && u < 1.0)) throw std::invalid_argument("equilibrium_quantile needs 0 < u < 1");
  if (options_.law == Law::kConstant) return u * options_.mean_s;
  if (options_.law == Law::kExponential) return quantile(u);
  double low_s = 0.0, high_s = std::numeric_limits<double>::infinity();
  double t_s = u * options_.mean_s;
  for (int i = 0; i < 500; ++i) {
    const double step_s = equilibrium_newton_step_s(t_s, u);
    (step_s > 0.0 ? low_s : high_s) = t_s;
    const double next_s = t_s + step_s;
    // The error after a step is about the square of the step: 1e-9 leaves rounding only.
    if (std::abs(step_s) <= 1e-9 * t_s) return next_s;
    const bool inside = next_s > low_s && next_s < high_s;
    t_s = inside ? next_s : std::isinf(high_s) ? 2.0 * t_s : 0.5 * (low_s + high_s);
  }
  throw std::logic_error("the inverse of an equilibrium law did not converge");
}

// Positive below the root, negative above it (minus infinity where no tail is left).
double Distribution::equilibrium_newton_step_s(double t_s, double u) const {
  const double density = survival(t_s) / options_.mean_s;
  if (u <= 0.5) return (u - equilibrium_cumulative(t_s)) / density;
  const double tail = equilibrium_survival(t_s);
  if (!(tail > 0.0 && density > 0.0)) return -std::numeric_limits<double>::infinity();
  return (natural_log(tail) - log_one_plus(-u)) * tail / density;
}

double Distribution::residual_quantile(double age_s, double u) const {
  if (!(age_s >= 0.0)) throw std::invalid_argument("age_s must not be negative");
  if (options_.law == Law::kConstant) return std::max(0.0, options_.mean_s - age_s);
  if (age_s == 0.0 || options_.law == Law::kExponential) return quantile(u);
  if (!(u > 0.0 && u < 1.0)) throw std::invalid_argument("residual_quantile needs 0 < u < 1");
  if (options_.law == Law::kWeibull) return age_hazard_quantile(age_s, -log_one_plus(-u));
  const double tail = survival(age_s) * (1.0 - u);
  if (options_.law == Law::kExponentiatedWeibull) {
    // Beyond hazard 40 survival is power times the plain Weibull's to 17 digits.
    if (hazard(age_s) > 40.0) return age_hazard_quantile(age_s, -log_one_plus(-u));
    const double lower = cumulative(age_s) + survival(age_s) * u;
    const double y =
        ExponentiatedWeibull{options_.shape, options_.power}.inverse(lower, tail);
    return std::max(0.0, scale_s_ * power(y, 1.0 / options_.shape) - age_s);
  }
  if (!(tail > 1e-300)) throw std::invalid_argument("no lognormal life reaches the age given");
  const double lower = cumulative(age_s) + survival(age_s) * u;
  const double end_s = scale_s_ * exponential(options_.sigma * normal_quantile(lower, tail));
  return std::max(0.0, end_s - age_s);
}

// t with hazard(age + t) = hazard(age) + hazard_added. For an old unit as
// age ((1 + added / hazard)^(1/k) - 1): the plain difference would lose a short life's digits.
double Distribution::age_hazard_quantile(double age_s, double hazard_added) const {
  const double hazard_now = hazard(age_s);
  if (hazard_now < hazard_added) {
    return scale_s_ * power(hazard_now + hazard_added, 1.0 / options_.shape) - age_s;
  }
  return age_s * exponential_minus_one(log_one_plus(hazard_added / hazard_now) / options_.shape);
}

}  // namespace failure_models

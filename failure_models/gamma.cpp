// failure_models/gamma.cpp: see gamma.h for the contract.
#include "failure_models/gamma.h"

#include <cmath>
#include <stdexcept>

#include "sim/base/elementary.h"

namespace failure_models {
namespace {

constexpr double kRounding = 0x1p-54;

// sum of x^n / (a (a + 1) ... (a + n)), n = 0, 1, ...; all terms positive.
double lower_series(double a, double x) {
  double term = 1.0 / a, sum = term;
  for (double n = 1.0; term > kRounding * sum; n += 1.0) {
    term *= x / (a + n);
    sum += term;
  }
  return sum;
}

// 1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - 2 (2 - a) / (x + 5 - a - ...))), by Lentz's forward
// recurrence. For x >= a + 1 every partial denominator is positive.
double upper_fraction(double a, double x) {
  double denominator = x + 1.0 - a;
  double ratio = 1.0 / denominator;
  double numerator = 1e300;  // stands for infinity: the fraction starts with an empty numerator
  double value = ratio;
  for (double n = 1.0;; n += 1.0) {
    const double part = n * (a - n);
    const double next = x + 2.0 * n + 1.0 - a;
    ratio = 1.0 / (next + part * ratio);
    numerator = next + part / numerator;
    const double factor = numerator * ratio;
    value *= factor;
    if (std::abs(factor - 1.0) <= 0x1p-52) return value;
    if (n > 10000.0) throw std::logic_error("the incomplete gamma fraction does not converge");
  }
}

}  // namespace

double gamma_function(double x) {
  if (!(x > 0.0 && x <= 171.0)) throw std::invalid_argument("gamma_function needs 0 < x <= 171");
  double divisor = 1.0, steps = 0.0;
  for (; x + steps < 16.0; steps += 1.0) divisor *= x + steps;
  const double start = x;
  x = start + steps;
  const double lost = start - (x - steps);  // by that addition; Gamma grows by a factor log x
  // B_2 / (1 2 x) + B_4 / (3 4 x^3) + ...; the next term is below 1e-17 at x = 16.
  const double z = 1.0 / (x * x);
  const double stirling =
      (1.0 / 12 +
       z * (-1.0 / 360 +
            z * (1.0 / 1260 +
                 z * (-1.0 / 1680 + z * (1.0 / 1188 + z * (-691.0 / 360360 + z / 156)))))) /
      x;
  constexpr double kSquareRootOfTwoPi = 0x1.40d931ff62706p+1;
  // x^x in two halves, because the whole overflows before gamma does; each factor has an exact
  // argument, because a rounding of 1e-14 at x = 100 would be one of 5e-14 in its power.
  const double half = sim::base::power(x, 0.5 * x);
  const double fall = sim::base::exponential(-x) * sim::base::exponential(stirling);
  const double whole = kSquareRootOfTwoPi / std::sqrt(x) * (half * fall) * half;
  return whole * (1.0 + lost * sim::base::natural_log(x)) / divisor;
}

GammaRatio gamma_ratio(double a, double x) {
  if (!(a > 0.0 && a <= 101.0)) throw std::invalid_argument("gamma_ratio needs 0 < a <= 101");
  if (!(x >= 0.0)) throw std::invalid_argument("gamma_ratio needs x >= 0");
  if (x == 0.0) return {0.0, 1.0};
  if (x > 1400.0) return {1.0, 0.0};  // Q(101, 1400) is below the smallest double
  // x^a e^-x / Gamma(a), the exponential in halves so that neither end leaves the doubles early.
  const double half = sim::base::exponential(-0.5 * x);
  const double front = half * (sim::base::power(x, a) / gamma_function(a)) * half;
  if (x < a + 1.0) {
    const double lower = front * lower_series(a, x);
    return {lower, 1.0 - lower};
  }
  const double upper = front * upper_fraction(a, x);
  return {1.0 - upper, upper};
}

}  // namespace failure_models

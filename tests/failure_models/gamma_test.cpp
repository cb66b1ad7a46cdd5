// tests/failure_models/gamma_test.cpp: gamma, incomplete gamma and normal law.
//
// Goal:   the special functions are right to the digits that their headers claim.
// Method: closed forms (factorials, half integers, Poisson sums), the 80-bit library where it has
//         the function, and an arbitrary-precision library outside the tests.
// Teeth:  seen failing with a Stirling coefficient of the wrong sign, the rounding of x + n not
//         made good, the series started at the wrong term, the fraction's numerator off by one, the
//         two branches swapped, the lower and upper ratio swapped, and one Halley step for three.
#include "failure_models/gamma.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "failure_models/normal.h"

namespace failure_models {
namespace {

using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

TEST_CASE("gamma: factorials and half integers", "[unit][failure_models]") {
  double factorial = 1.0;  // (n - 1)!
  for (int n = 1; n <= 171; ++n) {
    CAPTURE(n);
    CHECK_THAT(gamma_function(n), WithinRel(factorial, 4e-15));  // claimed in the header
    factorial *= n;
  }
  const double root_pi = 1.7724538509055160;
  CHECK_THAT(gamma_function(0.5), WithinRel(root_pi, 4e-15));
  CHECK_THAT(gamma_function(1.5), WithinRel(root_pi / 2.0, 4e-15));
  CHECK_THROWS_WITH(gamma_function(0.0), "gamma_function needs 0 < x <= 171");
  CHECK_THROWS_WITH(gamma_function(171.5), "gamma_function needs 0 < x <= 171");
}

TEST_CASE("gamma: between integers it equals the 80-bit library", "[property][failure_models]") {
  for (double x = 0.01; x < 171.0; x *= 1.01) {
    CAPTURE(x);
    const auto want = static_cast<double>(std::tgamma(static_cast<long double>(x)));
    CHECK_THAT(gamma_function(x), WithinRel(want, 4e-15));
  }
}

TEST_CASE("gamma ratio: whole a is a Poisson tail", "[property][failure_models]") {
  // Q(n, x) = e^-x (1 + x + ... + x^(n-1) / (n-1)!): all terms positive, no digits lost.
  for (int n = 1; n <= 100; n += 9) {
    for (double x = 0.01; x < 600.0; x *= 1.7) {
      CAPTURE(n, x);
      double term = std::exp(-x), tail = term;
      for (int i = 1; i < n; ++i) tail += (term *= x / i);
      const GammaRatio ratio = gamma_ratio(n, x);
      // 1e-13 of the smaller ratio is the claim; above x = a + 1 that is the upper one.
      if (x >= n + 1) CHECK_THAT(ratio.upper, WithinRel(tail, 1e-13));
      CHECK_THAT(ratio.upper, WithinAbs(tail, 1e-14));
      CHECK_THAT(ratio.lower + ratio.upper, WithinAbs(1.0, 3e-16));
    }
  }
}

TEST_CASE("gamma ratio: a small argument keeps its digits", "[unit][failure_models]") {
  // P(a, x) = x^a / Gamma(a + 1) (1 - a x / (a + 1) + ...); the next term is below 1e-16.
  for (const double a : {0.1, 0.7, 1.0, 1.5, 10.0}) {
    CAPTURE(a);
    const double x = 1e-9;
    const double want = std::pow(x, a) / std::tgamma(a + 1.0) * (1.0 - a * x / (a + 1.0));
    CHECK_THAT(gamma_ratio(a, x).lower, WithinRel(want, 1e-13));
  }
  CHECK(gamma_ratio(2.0, 0.0).lower == 0.0);
  CHECK(gamma_ratio(2.0, 1e4).upper == 0.0);
  CHECK_THROWS_WITH(gamma_ratio(0.0, 1.0), "gamma_ratio needs 0 < a <= 101");
  CHECK_THROWS_WITH(gamma_ratio(1.0, -1.0), "gamma_ratio needs x >= 0");
}

TEST_CASE("normal: both tails equal the 80-bit library", "[property][failure_models]") {
  for (double z = -37.0; z < 9.0; z += 0.173) {
    CAPTURE(z);
    const long double root_half = 0.70710678118654752440L;
    const auto want = static_cast<double>(0.5L * std::erfc(-z * root_half));
    CHECK_THAT(normal_cumulative(z), WithinRel(want, 1e-13));
  }
}

TEST_CASE("normal: the quantile undoes the law in both tails", "[property][failure_models]") {
  for (double z = 0.1; z < 37.0; z += 0.29) {
    CAPTURE(z);
    const double tail = normal_cumulative(-z);
    // The law's own error of 1e-13 moves z by 1e-13 / z; near 0 by 1e-16.
    CHECK_THAT(normal_quantile(tail, 1.0 - tail), WithinAbs(-z, 2e-13));
    CHECK(normal_quantile(1.0 - tail, tail) == -normal_quantile(tail, 1.0 - tail));
  }
  CHECK_THAT(normal_quantile(0.5, 0.5), WithinAbs(0.0, 1e-15));
  // Two-sided 95 %: 1.959963984540054.
  CHECK_THAT(normal_quantile(0.975, 0.025), WithinAbs(1.959963984540054, 1e-14));
  CHECK_THROWS_WITH(normal_quantile(0.2, 0.7),
                    "normal_quantile needs two positive tails with sum 1");
}

}  // namespace
}  // namespace failure_models

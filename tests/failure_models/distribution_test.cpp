// tests/failure_models/distribution_test.cpp: the laws, their means, quantiles and draws.
//
// Goal:   each law has the mean it was asked for and the textbook's distribution function.
// Method: closed forms by hand; the C library's functions as a second way; sample means within
//         four standard errors and Kolmogorov's bound at the 0.1 % level, seed 1.
// Teeth:  seen failing with the scale taken for the mean, shape for 1/shape, sigma^2/2 added in
//         place of subtracted, u and 1 - u swapped, two words per draw, and range checks removed.
#include "failure_models/distribution.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

namespace failure_models {
namespace {

using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

constexpr double kRounding = 2e-14;  // a few roundings, and those of the gamma function

Distribution constant(double mean_s) { return Distribution({Law::kConstant, mean_s, 0, 0, 0}); }
Distribution exponential(double mean_s) {
  return Distribution({Law::kExponential, mean_s, 0, 0, 0});
}
Distribution weibull(double mean_s, double shape) {
  return Distribution({Law::kWeibull, mean_s, shape, 0, 0});
}
Distribution exponentiated(double mean_s, double shape, double power) {
  return Distribution({Law::kExponentiatedWeibull, mean_s, shape, power, 0});
}
Distribution lognormal(double mean_s, double sigma) {
  return Distribution({Law::kLognormal, mean_s, 0, 0, sigma});
}

TEST_CASE("distribution: quantiles by hand", "[unit][failure_models]") {
  CHECK(constant(600.0).quantile(0.9) == 600.0);
  // Exponential: -mean ln(1 - u); the median of mean 1000 is 1000 ln 2.
  CHECK_THAT(exponential(1000.0).quantile(0.5), WithinRel(693.14718055994531, kRounding));
  // Weibull with shape 2 has mean scale sqrt(pi) / 2; 1 - 1/e of lives are over at the scale.
  const double e = 2.718281828459045;
  CHECK_THAT(weibull(1.7724538509055160 / 2.0, 2.0).quantile(1.0 - 1.0 / e),
             WithinRel(1.0, kRounding));
  // Weibull with shape 1/2 has mean 2 scale (Gamma(3) = 2); at u = 1 - e^-3 it is 9 scale.
  CHECK_THAT(weibull(2.0, 0.5).quantile(1.0 - std::exp(-3.0)), WithinRel(9.0, kRounding));
  // Power 4, shape 1: the last of four exponentials, mean 1 + 1/2 + 1/3 + 1/4 = 25/12 scales.
  // F(t) = (1 - e^-t)^4 = 1/16 at t = ln 2.
  CHECK_THAT(exponentiated(25.0 / 12.0, 1.0, 4.0).quantile(1.0 / 16.0),
             WithinRel(0.69314718055994531, kRounding));
  // Lognormal: median = mean e^(-sigma^2/2); one sigma above lies at the 84.1 % quantile.
  CHECK_THAT(lognormal(1000.0, 1.4).quantile(0.5), WithinRel(1000.0 * std::exp(-0.98), kRounding));
  CHECK_THAT(lognormal(1000.0, 1.4).quantile(0.84134474606854293),
             WithinRel(1000.0 * std::exp(0.42), kRounding));
}

TEST_CASE("distribution: power 1 is the plain Weibull", "[property][failure_models]") {
  for (const double shape : {0.3, 0.7, 1.0, 1.5, 4.0}) {
    for (const double u : {1e-9, 0.01, 0.5, 0.99, 1.0 - 1e-9}) {
      CAPTURE(shape, u);
      // 1e-13: the mean is summed by quadrature here and a gamma function there.
      CHECK_THAT(exponentiated(10.0, shape, 1.0).quantile(u),
                 WithinRel(weibull(10.0, shape).quantile(u), 1e-13));
    }
  }
}

struct Case {
  const char* name;
  Distribution law;
  double (*cumulative)(double t_s);  // by the C library, with the scale worked out by hand
  double deviation_s;                // standard deviation, closed form
};

double by_weibull(double t_s) {  // mean 100, shape 0.7
  return 1.0 - std::exp(-std::pow(t_s * std::tgamma(1.0 + 1.0 / 0.7) / 100.0, 0.7));
}

std::vector<Case> cases() {
  const double g1 = std::tgamma(1.0 + 1.0 / 0.7), g2 = std::tgamma(1.0 + 2.0 / 0.7);
  return {
      {"exponential", exponential(100.0), [](double t) { return 1.0 - std::exp(-t / 100.0); },
       100.0},
      {"weibull", weibull(100.0, 0.7), by_weibull, 100.0 * std::sqrt(g2 / (g1 * g1) - 1.0)},
      // The later of two exponentials of 100/1.5 each: variance scale^2 (1 + 1/4).
      {"exponentiated weibull", exponentiated(100.0, 1.0, 2.0),
       [](double t) { return std::pow(1.0 - std::exp(-t * 1.5 / 100.0), 2.0); },
       100.0 / 1.5 * std::sqrt(1.25)},
      {"lognormal", lognormal(100.0, 1.0),
       [](double t) { return 0.5 * std::erfc(-(std::log(t / 100.0) + 0.5) / std::sqrt(2.0)); },
       100.0 * std::sqrt(std::exp(1.0) - 1.0)},
  };
}

TEST_CASE("distribution: cumulative and survival equal the textbook", "[unit][failure_models]") {
  for (const Case& c : cases()) {
    for (double t_s = 0.01; t_s < 1500.0; t_s *= 1.9) {
      CAPTURE(c.name, t_s);
      CHECK_THAT(c.law.cumulative(t_s), WithinAbs(c.cumulative(t_s), 1e-14));
      CHECK_THAT(c.law.survival(t_s), WithinAbs(1.0 - c.cumulative(t_s), 1e-14));
    }
    CHECK(c.law.cumulative(0.0) == 0.0);
    CHECK(c.law.survival(-1.0) == 1.0);
  }
  CHECK(constant(5.0).cumulative(4.9) == 0.0);
  CHECK(constant(5.0).cumulative(5.0) == 1.0);
  CHECK(constant(5.0).survival(5.0) == 0.0);
}

TEST_CASE("distribution: the quantile undoes the law in both tails", "[property][failure_models]") {
  for (const Case& c : cases()) {
    for (const double u : {0x1p-53, 1e-9, 1e-3, 0.3, 0.5, 0.7, 0.999, 1.0 - 1e-9, 1.0 - 0x1p-53}) {
      CAPTURE(c.name, u);
      const double t_s = c.law.quantile(u);
      // 1e-12: the exponent of a tail of 1e-16 is 36, and the lognormal's slope adds a factor 8.
      if (u <= 0.5) CHECK_THAT(c.law.cumulative(t_s), WithinRel(u, 1e-12));
      if (u > 0.5) CHECK_THAT(c.law.survival(t_s), WithinRel(1.0 - u, 1e-12));
    }
  }
}

TEST_CASE("distribution: ten thousand draws have the law and the mean", "[property][failure_models]") {
  constexpr int kDraws = 10'000;
  for (const Case& c : cases()) {
    CAPTURE(c.name);
    sim::base::Stream stream(1, c.name);
    std::vector<double> draws_s;
    double sum_s = 0.0;
    for (int i = 0; i < kDraws; ++i) {
      draws_s.push_back(c.law.draw_s(stream));
      sum_s += draws_s.back();
    }
    CHECK(stream.index() == kDraws);  // one word each
    CHECK(std::abs(sum_s / kDraws - c.law.mean_s()) < 4.0 * c.deviation_s / std::sqrt(kDraws));
    std::sort(draws_s.begin(), draws_s.end());
    double distance = 0.0;
    for (int i = 0; i < kDraws; ++i) {
      const double probability = c.cumulative(draws_s[static_cast<std::size_t>(i)]);
      distance = std::max({distance, probability - static_cast<double>(i) / kDraws,
                           (i + 1.0) / kDraws - probability});
    }
    CHECK(distance < 1.95 / std::sqrt(kDraws));
  }
}

TEST_CASE("distribution: the mean holds over all shapes", "[property][failure_models]") {
  // The mean is the area under the survival function: trapezoids in log t, which converge fast
  // because the integrand vanishes at both ends. Step 1/200, range e^-40 to e^40.
  const auto mean_by_sum = [](const Distribution& law) {
    double sum_s = 0.0;
    for (int i = -8000; i <= 8000; ++i) {
      const double t_s = std::exp(i / 200.0);
      sum_s += law.survival(t_s) * t_s / 200.0;
    }
    return sum_s;
  };
  for (const double shape : {0.3, 0.7, 1.5, 10.0}) {
    CAPTURE(shape);
    CHECK_THAT(mean_by_sum(weibull(20.0, shape)), WithinRel(20.0, 1e-11));
    for (const double power : {0.2, 0.8, 30.0}) {
      CAPTURE(power);
      CHECK_THAT(mean_by_sum(exponentiated(20.0, shape, power)), WithinRel(20.0, 1e-11));
    }
  }
  for (const double sigma : {0.1, 1.4, 3.0}) {
    CHECK_THAT(mean_by_sum(lognormal(20.0, sigma)), WithinRel(20.0, 1e-11));
  }
}

TEST_CASE("distribution: parameters out of range are refused", "[unit][failure_models]") {
  CHECK_THROWS_WITH(exponential(0.0), "mean_s must be positive and finite; got 0");
  CHECK_THROWS_WITH(exponential(std::numeric_limits<double>::infinity()),
                    "mean_s must be positive and finite; got inf");
  CHECK_THROWS_WITH(constant(-1.0), "mean_s must be positive and finite; got -1");
  CHECK(constant(0.0).quantile(0.5) == 0.0);
  CHECK_THROWS_WITH(weibull(1.0, 0.001), "shape must be from 0.01 to 100; got 0.001");
  CHECK_THROWS_WITH(exponentiated(1.0, 1.0, 0.0), "power must be from 0.01 to 1000; got 0");
  CHECK_THROWS_AS(lognormal(1.0, 0.0), std::invalid_argument);
  CHECK_THROWS_WITH(exponential(1.0).quantile(1.0), "a quantile needs 0 < u < 1; got 1");
}

}  // namespace
}  // namespace failure_models

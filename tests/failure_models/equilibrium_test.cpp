// tests/failure_models/equilibrium_test.cpp: remaining lives at equilibrium or at a given age.
//
// Goal:   the first failure of a unit that has run for long, or for a known time, has its law.
// Method: closed forms; the defining integral summed in the test; moments of the remaining life
//         from those of the life (E R = E X^2 / (2 E X), E R^2 = E X^3 / (3 E X)).
// Teeth:  seen failing with a whole life for a remaining one, shape for 1/shape in the gamma
//         ratio, the length-biased shift of the lognormal dropped, the halves of the inversion
//         swapped, the bracket removed, the age ignored, either form of the aged hazard used
//         alone, and a factor of the quadrature dropped.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "failure_models/distribution.h"
#include "failure_models/exponentiated_weibull.h"

namespace failure_models {
namespace {

using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

const std::vector<double> kUniforms = {0x1p-53, 1e-9,  0.01,       0.3,           0.5, 0.51,
                                       0.9,     0.999, 1.0 - 1e-9, 1.0 - 0x1p-53};

std::vector<DistributionOptions> laws() {
  std::vector<DistributionOptions> options;
  for (const double shape : {0.05, 0.3, 0.7, 1.0, 1.5, 5.0, 100.0}) {
    options.push_back({Law::kWeibull, 50.0, shape, 0, 0});
  }
  options.push_back({Law::kExponentiatedWeibull, 50.0, 0.7, 2.0, 0});
  options.push_back({Law::kExponentiatedWeibull, 50.0, 3.0, 0.2, 0});
  for (const double sigma : {0.1, 1.4, 3.0}) {
    options.push_back({Law::kLognormal, 50.0, 0, 0, sigma});
  }
  return options;
}

std::string name_of(const DistributionOptions& options) {
  return std::to_string(static_cast<int>(options.law)) + " shape " +
         std::to_string(options.shape) + " power " + std::to_string(options.power) + " sigma " +
         std::to_string(options.sigma);
}

TEST_CASE("equilibrium: exponential lives stay exponential, constant ones become uniform",
          "[unit][failure_models]") {
  const Distribution exponential({Law::kExponential, 100.0, 0, 0, 0});
  const Distribution constant({Law::kConstant, 100.0, 0, 0, 0});
  for (const double u : kUniforms) {
    CHECK(exponential.equilibrium_quantile(u) == exponential.quantile(u));
    CHECK(constant.equilibrium_quantile(u) == 100.0 * u);
  }
  CHECK(constant.equilibrium_cumulative(25.0) == 0.25);
  CHECK(constant.equilibrium_survival(25.0) == 0.75);
  CHECK(constant.equilibrium_survival(125.0) == 0.0);
}

TEST_CASE("equilibrium: Weibull shape 1/2 by hand", "[unit][failure_models]") {
  // Scale 1, mean 2: integral of e^-sqrt(x) from 0 to t = 2 (1 - (1 + sqrt t) e^-sqrt(t)).
  const Distribution weibull({Law::kWeibull, 2.0, 0.5, 0, 0});
  for (const double t : {0.01, 1.0, 9.0, 100.0}) {
    const double root = std::sqrt(t);
    CHECK_THAT(weibull.equilibrium_survival(t), WithinRel((1.0 + root) * std::exp(-root), 1e-13));
  }
}

TEST_CASE("equilibrium: power 2 is two exponentials by hand", "[unit][failure_models]") {
  // 1 - (1 - e^-t)^2 = 2 e^-t - e^-2t; area below t: 2 (1 - e^-t) - (1 - e^-2t) / 2.
  const ExponentiatedWeibull later_of_two{1.0, 2.0};
  for (const double t : {1e-6, 0.1, 1.0, 3.0, 30.0}) {
    CAPTURE(t);
    CHECK_THAT(later_of_two.area_below(t),
               WithinRel(-2.0 * std::expm1(-t) + 0.5 * std::expm1(-2.0 * t), 1e-12));
    CHECK_THAT(later_of_two.area_above(t),
               WithinRel(2.0 * std::exp(-t) - 0.5 * std::exp(-2.0 * t), 1e-12));
  }
}

TEST_CASE("equilibrium: the law is the integral of survival over the mean",
          "[property][failure_models]") {
  for (const DistributionOptions& options : laws()) {
    CAPTURE(name_of(options));
    const Distribution law(options);
    // Trapezoids in log t from e^-45 (below it survival is 1 or the area below 1e-15).
    constexpr int kSteps = 20'000;
    const double end_s = law.equilibrium_quantile(0.6), start = -45.0;
    const double step = (std::log(end_s) - start) / kSteps;
    double area_s = std::exp(start);
    for (int i = 0; i <= kSteps; ++i) {
      const double t_s = std::exp(start + step * i);
      area_s += (i == 0 || i == kSteps ? 0.5 : 1.0) * law.survival(t_s) * t_s * step;
    }
    // The trapezoid's own error is step^2 / 12 times the slope at the end: 2e-6 at shape 100,
    // 1e-6 elsewhere.
    CHECK_THAT(law.equilibrium_cumulative(end_s), WithinAbs(area_s / options.mean_s, 2e-6));
    CHECK_THAT(law.equilibrium_cumulative(end_s) + law.equilibrium_survival(end_s),
               WithinAbs(1.0, 1e-12));
  }
}

TEST_CASE("equilibrium: the quantile undoes the law and grows", "[property][failure_models]") {
  for (const DistributionOptions& options : laws()) {
    const Distribution law(options);
    double last_s = 0.0;
    for (const double u : kUniforms) {
      CAPTURE(name_of(options), u);
      const double t_s = law.equilibrium_quantile(u);
      CHECK(t_s > last_s);
      last_s = t_s;
      // 1e-11: a lognormal tail is a difference of two that cancel to some 1/30.
      if (u <= 0.5) CHECK_THAT(law.equilibrium_cumulative(t_s), WithinRel(u, 1e-11));
      if (u > 0.5) CHECK_THAT(law.equilibrium_survival(t_s), WithinRel(1.0 - u, 1e-11));
    }
  }
}

TEST_CASE("equilibrium: remaining lives have the mean of renewal theory",
          "[property][failure_models]") {
  static constexpr int kDraws = 4'000;
  const auto check = [](const Distribution& law, double second, double third) {
    const double mean_s = second / (2.0 * law.mean_s());
    const double deviation_s = std::sqrt(third / (3.0 * law.mean_s()) - mean_s * mean_s);
    sim::base::Stream stream(1, "residual");
    double sum_s = 0.0;
    for (int i = 0; i < kDraws; ++i) sum_s += law.draw_residual_s(stream);
    CHECK(stream.index() == kDraws);
    CHECK(std::abs(sum_s / kDraws - mean_s) < 4.0 * deviation_s / std::sqrt(kDraws));
  };
  for (const double shape : {0.7, 1.0, 1.5, 5.0}) {
    CAPTURE(shape);  // scale 1: E X^n = Gamma(1 + n / shape)
    const auto moment = [shape](double n) { return std::tgamma(1.0 + n / shape); };
    check(Distribution({Law::kWeibull, moment(1), shape, 0, 0}), moment(2), moment(3));
  }
  // Lognormal, median 1, sigma 0.8: E X^n = e^(n^2 sigma^2 / 2).
  const auto moment = [](double n) { return std::exp(0.32 * n * n); };
  check(Distribution({Law::kLognormal, moment(1), 0, 0, 0.8}), moment(2), moment(3));
}

TEST_CASE("age: what is left is the life conditioned on the age", "[property][failure_models]") {
  for (const DistributionOptions& options : laws()) {
    const Distribution law(options);
    for (const double age_s : {1e-3, 5.0, 40.0}) {
      const double reached = law.survival(age_s);
      if (reached < 1e-12) continue;  // shape 100 and age 40: nobody lives
      double last_s = 0.0;
      for (const double u : {0.01, 0.3, 0.5, 0.9, 0.999}) {
        CAPTURE(name_of(options), age_s, u);
        const double t_s = law.residual_quantile(age_s, u);
        CHECK(t_s >= last_s);
        last_s = t_s;
        // 1e-11: the sum age + t rounds, and shape 100 multiplies that by 100.
        CHECK_THAT(law.survival(age_s + t_s), WithinRel(reached * (1.0 - u), 1e-11));
      }
    }
    CHECK(law.residual_quantile(0.0, 0.3) == law.quantile(0.3));
  }
}

TEST_CASE("age: by hand", "[unit][failure_models]") {
  sim::base::Stream stream(1, "age");
  // A constant life of 10 has 10 - 4 = 6 left at age 4 and nothing at 12; it still costs a word.
  const Distribution constant({Law::kConstant, 10.0, 0, 0, 0});
  CHECK(constant.draw_residual_at_age_s(4.0, stream) == 6.0);
  CHECK(constant.draw_residual_at_age_s(12.0, stream) == 0.0);
  CHECK(stream.index() == 2);
  // Exponential lives forget their age.
  const Distribution exponential({Law::kExponential, 10.0, 0, 0, 0});
  CHECK(exponential.residual_quantile(1e9, 0.3) == exponential.quantile(0.3));
  // Weibull shape 2, scale 1, age 3: (3 + t)^2 = 9 + 7 at u = 1 - e^-7, so t = 1.
  const Distribution weibull({Law::kWeibull, 1.7724538509055160 / 2.0, 2.0, 0, 0});
  CHECK_THAT(weibull.residual_quantile(3.0, 1.0 - std::exp(-7.0)), WithinRel(1.0, 1e-12));
  // Old beyond any survivor in a double (hazard 10^6): sqrt(10^6 + ln 2) - 1000, by its series
  // ln 2 / 2000 (1 - ln 2 / (4 10^6) + ...), the next term below 1e-13.
  const double left = std::log(2.0) / 2000.0 * (1.0 - std::log(2.0) / 4e6);
  CHECK_THAT(weibull.residual_quantile(1000.0, 0.5), WithinRel(left, 1e-12));
  // Power 1/2 halves a survival of e^-10^6 and leaves its slope; F = (1 - 1/e)^(1/2) at the scale.
  const Distribution bathtub({Law::kExponentiatedWeibull, 10.0, 2.0, 0.5, 0});
  const double scale_s = bathtub.quantile(std::sqrt(1.0 - std::exp(-1.0)));
  CHECK_THAT(bathtub.residual_quantile(1000.0 * scale_s, 0.5) / scale_s, WithinRel(left, 1e-12));
  CHECK_THROWS_WITH(weibull.residual_quantile(-1.0, 0.5), "age_s must not be negative");
  const Distribution lognormal({Law::kLognormal, 10.0, 0, 0, 0.1});
  CHECK_THROWS_WITH(lognormal.residual_quantile(1e6, 0.5),
                    "no lognormal life reaches the age given");
}

}  // namespace
}  // namespace failure_models

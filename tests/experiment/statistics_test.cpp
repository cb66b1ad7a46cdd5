// tests/experiment/statistics_test.cpp: intervals against printed tables and hand arithmetic.
//
// Goal:   the quantile is Student's, intervals and paired differences follow their formulas, and no
//         arm is called best on noise.
// Method: published table values (three decimals); arithmetic in the comments.
// Teeth:  seen failing with the one-sided quantile, with n instead of n - 1 in the variance, with
//         the last term of the odd sum left out, with unpaired intervals in best_arm, and with the
//         half width ignored in best_arm.
#include "sim/experiment/statistics.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

namespace sim::experiment {
namespace {

using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

TEST_CASE("student t: agrees with the printed table", "[unit][experiment]") {
  struct Entry {
    std::size_t degrees;
    double confidence, printed;
  };
  // Two-sided critical values as in every table of Student's t; printed to three decimals.
  const Entry entries[] = {
      {1, 0.95, 12.706}, {2, 0.95, 4.303},  {3, 0.95, 3.182},  {4, 0.95, 2.776},
      {5, 0.95, 2.571},  {6, 0.95, 2.447},  {7, 0.95, 2.365},  {9, 0.95, 2.262},
      {10, 0.95, 2.228}, {15, 0.95, 2.131}, {20, 0.95, 2.086}, {30, 0.95, 2.042},
      {60, 0.95, 2.000}, {120, 0.95, 1.980}, {1, 0.99, 63.657}, {4, 0.99, 4.604},
      {5, 0.99, 4.032},  {10, 0.90, 1.812},
  };
  for (const Entry& entry : entries) {
    CAPTURE(entry.degrees, entry.confidence);
    // Half a unit of the last printed place, and rounding of the double sum.
    CHECK_THAT(student_t(entry.degrees, entry.confidence), WithinAbs(entry.printed, 0.00051));
  }
}

TEST_CASE("student t: two degrees of freedom have a closed form", "[unit][experiment]") {
  // P(|T| <= t) = t / sqrt(2 + t^2), so t = sqrt(2 c^2 / (1 - c^2)); c = 0.95 gives 4.30265...
  const double expected = std::sqrt(2.0 * 0.95 * 0.95 / (1.0 - 0.95 * 0.95));
  CHECK_THAT(student_t(2, 0.95), WithinRel(expected, 1e-13));  // a few roundings of sin and atan
}

TEST_CASE("student t: arguments outside their range are refused", "[unit][experiment]") {
  CHECK_THROWS_WITH(student_t(0, 0.95), "degrees_of_freedom must be at least 1; got 0");
  CHECK_THROWS_WITH(student_t(3, 1.0), "confidence must be in (0, 1); got 1");
}

TEST_CASE("estimate: mean and interval match hand arithmetic", "[unit][experiment]") {
  // 2, 4, 9: mean 5, squares 9 + 1 + 16 = 26, variance 13, standard error sqrt(13/3) = 2.081666,
  // times t(2) = 4.302653: 8.956686.
  const std::vector<double> values = {2.0, 4.0, 9.0};
  const Estimate got = estimate(values);
  CHECK(got.mean == 5.0);
  CHECK(got.count == 3);
  CHECK_THAT(*got.half_width, WithinAbs(8.956686, 2e-6));  // six printed decimals above
}

TEST_CASE("estimate: one value has no interval", "[unit][experiment]") {
  const std::vector<double> values = {0.75};
  CHECK(estimate(values).mean == 0.75);
  CHECK_FALSE(estimate(values).half_width.has_value());
  CHECK_THROWS_WITH(estimate(std::vector<double>{}), "an estimate needs at least one value");
}

TEST_CASE("paired difference: the spread between seeds cancels", "[unit][experiment]") {
  // Each seed differs by exactly 1 although the seeds differ by tens.
  const std::vector<double> reference = {10.0, 20.0, 40.0};
  const std::vector<double> values = {11.0, 21.0, 41.0};
  const Estimate got = paired_difference(values, reference);
  CHECK(got.mean == 1.0);
  CHECK(*got.half_width == 0.0);
  CHECK_THROWS_WITH(paired_difference(values, std::vector<double>{1.0}),
                    "3 values cannot be paired with 1");
}

TEST_CASE("median: not reached is infinity and counts", "[unit][experiment]") {
  const double never = std::numeric_limits<double>::infinity();
  CHECK(median({3.0, 1.0, 2.0}) == 2.0);
  CHECK(median({4.0, 1.0, 3.0, 2.0}) == 2.5);
  CHECK(median({1.0, never, 5.0}) == 5.0);
  CHECK(median({never, 1.0, never, never}) == never);
}

TEST_CASE("seed note: says what so few seeds allow", "[unit][experiment]") {
  CHECK(seed_note(1) == "one seed: no interval");
  CHECK(seed_note(4) == "4 seeds: under 5, the interval is rough");
  CHECK(seed_note(5).empty());
}

TEST_CASE("best arm: a steady lead over noisy seeds is one", "[unit][experiment]") {
  // Paired leads 1.0, 1.1, 0.9 (mean 1, sd 0.1, half width 4.303 * 0.1 / sqrt(3) = 0.248) although
  // the seeds spread over 20: unpaired intervals would overlap widely.
  const std::vector<std::vector<double>> arms = {{10.0, 20.0, 30.0}, {11.0, 21.1, 30.9}};
  CHECK(best_arm(arms, Better::kLarger) == 1);
  CHECK(best_arm(arms, Better::kSmaller) == 0);
}

TEST_CASE("best arm: a lead that its interval cannot tell from none is none", "[unit][experiment]") {
  // Leads 1, -0.5, 1: mean 0.5, sd 0.866, half width 4.303 * 0.5 = 2.15.
  CHECK_FALSE(best_arm({{10.0, 20.0, 30.0}, {11.0, 19.5, 31.0}}, Better::kLarger));
  CHECK_FALSE(best_arm({{1.0}, {2.0}}, Better::kLarger));            // one seed
  CHECK_FALSE(best_arm({{1.0, 1.0, 1.0}}, Better::kLarger));         // one arm
  CHECK_FALSE(best_arm({{1.0, 2.0}, {1.0, 2.0}}, Better::kLarger));  // equal
}

}  // namespace
}  // namespace sim::experiment

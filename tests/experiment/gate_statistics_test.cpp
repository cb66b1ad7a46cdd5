// tests/experiment/gate_statistics_test.cpp: quantiles against closed forms and tables, tests by hand and
// against drawn samples.
//
// Teeth:  seen failing with the odd terms of the continued fraction's sign turned, with n instead of n - 1
//         in the spread, with half the tail in the quantile, with Welch's degrees of freedom replaced by
//         n + m - 2, with the smallest loss left out of the power, and with t(tail) + t(0.05) errors as the
//         loss that can be found (93 % at 8 values), with Welch's degrees for unequal sizes (91 % at 27 and 5),
//         and with the wrong tail in the bound of a deviation.
#include "sim/experiment/gate_statistics.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "sim/base/random.h"
#include "sim/experiment/statistics.h"

namespace sim::experiment {
namespace {

TEST_CASE("incomplete beta: closed forms", "[unit][experiment][gate]") {
  for (const double x : {0.01, 0.3, 0.5, 0.77, 0.999}) {
    CAPTURE(x);
    CHECK(incomplete_beta(1, 1, x) == Approx(x).epsilon(1e-12));
    CHECK(incomplete_beta(3, 1, x) == Approx(x * x * x).epsilon(1e-12));
    CHECK(incomplete_beta(2, 2, x) == Approx(x * x * (3 - 2 * x)).epsilon(1e-12));
    CHECK(incomplete_beta(0.5, 0.5, x) == Approx(2 / M_PI * std::asin(std::sqrt(x))).epsilon(1e-11));
  }
  CHECK(incomplete_beta(200, 200, 0.5) == Approx(0.5).epsilon(1e-10));
  CHECK(incomplete_beta(4, 5, 0) == 0);
  CHECK(incomplete_beta(4, 5, 1) == 1);
}

// Whole degrees of freedom have a second method: the finite sums of statistics.h.
TEST_CASE("student: one-sided quantiles agree with the finite sums and with tables", "[unit][experiment][gate]") {
  for (const std::size_t degrees : {1, 2, 5, 9, 30, 200}) {
    for (const double tail : {0.05, 0.01, 0.001}) {
      CAPTURE(degrees, tail);
      CHECK(student_upper_quantile(tail, static_cast<double>(degrees)) ==
            Approx(student_t(degrees, 1 - 2 * tail)).epsilon(1e-9));
    }
  }
  CHECK(student_upper_quantile(0.05, 10) == Approx(1.812).margin(5e-4));  // any table
  CHECK(student_upper_quantile(0.01, 20) == Approx(2.528).margin(5e-4));
  CHECK(student_upper_tail(-1, 3) == Approx(1 - student_upper_tail(1, 3)).epsilon(1e-12));
  // Between whole degrees it lies between them.
  CHECK(student_upper_quantile(0.01, 4.5) < student_upper_quantile(0.01, 4));
  CHECK(student_upper_quantile(0.01, 4.5) > student_upper_quantile(0.01, 5));
}

// Differences 1, 2, 3: mean 2, sd 1, error 1 / sqrt 3; t(0.05, 2) = 2.91999.
TEST_CASE("paired loss: by hand", "[unit][experiment][gate]") {
  const std::vector<double> before = {5, 7, 9}, after = {4, 5, 6};
  const Loss loss = paired_loss(before, after, 0.05);
  CHECK(loss.mean == Approx(2));
  CHECK(loss.low == Approx(2 - 2.91999 / std::sqrt(3.0)).epsilon(1e-5));
  CHECK(loss.high == Approx(2 + 2.91999 / std::sqrt(3.0)).epsilon(1e-5));
  CHECK_THROWS_WITH(paired_loss(before, std::vector<double>{1, 2}, 0.05), "3 values cannot be paired with 2");
}

// u = 1/3 (sd 1, n 3), v = 4/4 (sd 2, n 4): degrees (4/3)^2 / ((1/9)/2 + 1/3) = 4.5714.
TEST_CASE("two-sample loss: by hand", "[unit][experiment][gate]") {
  const double s = std::sqrt(3.0);  // -s, -s, s, s has sd 2
  const std::vector<double> before = {9, 10, 11}, after = {8 - s, 8 - s, 8 + s, 8 + s};
  const Loss loss = two_sample_loss(before, after, 0.01);
  CHECK(loss.mean == Approx(2));
  const double degrees = 16.0 / 9 / (1.0 / 18 + 1.0 / 3);
  CHECK(loss.low == Approx(2 - student_upper_quantile(0.01, degrees) * std::sqrt(4.0 / 3)).epsilon(1e-9));
}

TEST_CASE("losses without spread are exact", "[unit][experiment][gate]") {
  const std::vector<double> before = {0.9, 0.8, 0.7}, same = before;
  const Loss none = paired_loss(before, same, 0.01);
  CHECK(none.mean == 0);
  CHECK(none.low == 0);
  CHECK(none.high == 0);
  const std::vector<double> flat = {0.75, 0.75}, lower = {0.5, 0.5};
  CHECK(two_sample_loss(flat, lower, 0.01).low == 0.25);
  CHECK(paired_loss(flat, lower, 0.01).low == 0.25);
}

// Drawn samples: the smallest detectable loss is found in 95 % of cases, and no loss at all at the level
// asked for. 6,000 draws have a standard error of 0.3 points; Welch's test knows the spread a little worse
// than the pooled one of the formula.
TEST_CASE("detectable loss: drawn samples find it in 95 of 100 cases", "[unit][experiment][gate]") {
  constexpr int kDraws = 6000;
  constexpr double kTail = 0.01 / 4, kSpread = 0.012, kSmallest = 0.005;
  base::Stream stream(7, "gate");
  for (const std::size_t count : {8, 20, 150}) {  // with 150, the smallest that matters decides
    const double loss = detectable_loss(kSpread, {count, count}, kTail, kSmallest);
    int found = 0, alarms = 0;
    for (int i = 0; i < kDraws; ++i) {
      std::vector<double> before, after, lower;
      for (std::size_t k = 0; k < count; ++k) {
        before.push_back(0.9 + kSpread * stream.next_normal());
        after.push_back(0.9 + kSpread * stream.next_normal());
        lower.push_back(after.back() - loss);
      }
      const Loss real = two_sample_loss(before, lower, kTail), none = two_sample_loss(before, after, kTail);
      found += real.low > 0 && real.mean > kSmallest ? 1 : 0;
      alarms += none.low > 0 && none.mean > kSmallest ? 1 : 0;
    }
    CAPTURE(count, loss);
    CHECK(found / double{kDraws} == Approx(0.95).margin(0.012));
    CHECK(alarms / double{kDraws} <= kTail + 0.003);
  }
}

// What is said to be found is found, and not much less would be: within three standard errors from below.
TEST_CASE("detectable loss: of unequal sizes the smaller decides", "[unit][experiment][gate]") {
  constexpr int kDraws = 5000;
  constexpr double kTail = 0.01 / 4, kSpread = 0.012, kSmallest = 0.005;
  base::Stream stream(8, "gate");
  for (const std::size_t few : {5, 10, 20}) {
    const double loss = detectable_loss(kSpread, {27, few}, kTail, kSmallest);
    CAPTURE(few, loss);
    CHECK(loss > detectable_loss(kSpread, {27, 27}, kTail, kSmallest));
    CHECK(loss == Approx(detectable_loss(kSpread, {few, 27}, kTail, kSmallest)).epsilon(1e-9));
    int found = 0;
    for (int i = 0; i < kDraws; ++i) {
      std::vector<double> before, after;
      for (int k = 0; k < 27; ++k) before.push_back(0.9 + kSpread * stream.next_normal());
      for (std::size_t k = 0; k < few; ++k) after.push_back(0.9 - loss + kSpread * stream.next_normal());
      const Loss seen = two_sample_loss(before, after, kTail);
      found += seen.low > 0 && seen.mean > kSmallest ? 1 : 0;
    }
    CHECK(found / double{kDraws} >= 0.95 - 0.009);
    CHECK(found / double{kDraws} < 0.99);
  }
}

// chi-square quantiles at 20 %: 2 degrees -2 ln 0.8 = 0.44629 (closed form), 4 degrees 1.6488, 8 degrees
// 4.5936 (any table). Drawn samples: the bound holds in 80 of 100.
TEST_CASE("deviation bound: chi-square by closed form, table and draws", "[unit][experiment][gate]") {
  CHECK(deviation_bound(2, 3, 0.8) == Approx(2 * std::sqrt(2 / (-2 * std::log(0.8)))).epsilon(1e-9));
  CHECK(deviation_bound(1, 5, 0.8) == Approx(std::sqrt(4 / 1.6488)).epsilon(1e-4));
  CHECK(deviation_bound(1, 9, 0.8) == Approx(std::sqrt(8 / 4.5936)).epsilon(1e-4));
  CHECK(deviation_bound(0, 5, 0.8) == 0);
  base::Stream stream(9, "gate");
  int holds = 0;
  constexpr int kDraws = 10000;
  for (int i = 0; i < kDraws; ++i) {
    std::vector<double> values;
    for (int k = 0; k < 6; ++k) values.push_back(stream.next_normal());
    holds += deviation_bound(standard_deviation(values), 6, 0.8) > 1 ? 1 : 0;
  }
  CHECK(holds / double{kDraws} == Approx(0.8).margin(0.012));  // three standard errors
}

TEST_CASE("counts needed: the first count that does", "[unit][experiment][gate]") {
  for (const double spread : {0.001, 0.01, 0.03}) {
    const std::size_t count = counts_needed(spread, 0.001, 0.005, 0.015);
    CAPTURE(spread, count);
    CHECK(detectable_loss(spread, {count, count}, 0.001, 0.005) <= 0.015);
    if (count > 2) CHECK(detectable_loss(spread, {count - 1, count - 1}, 0.001, 0.005) > 0.015);
  }
  CHECK(counts_needed(0, 0.001, 0.005, 0.015) == 2);
}

}  // namespace
}  // namespace sim::experiment

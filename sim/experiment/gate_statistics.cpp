// sim/experiment/gate_statistics.cpp: see gate_statistics.h.
#include "sim/experiment/gate_statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "failure_models/gamma.h"
#include "failure_models/normal.h"
#include "sim/base/elementary.h"
#include "sim/experiment/statistics.h"

namespace sim::experiment {
namespace {

constexpr double kPower = 0.95;

// ln Gamma(x), x > 0: Stirling's series from 10 on, below by the recurrence.
double log_gamma(double x) {
  double shift = 0;
  for (; x < 10; x += 1) shift += base::natural_log(x);
  const double inverse = 1 / x, square = inverse * inverse;
  const double series =
      inverse * (1.0 / 12 - square * (1.0 / 360 - square * (1.0 / 1260 - square / 1680)));
  return (x - 0.5) * base::natural_log(x) - x + 0.5 * base::natural_log(2 * std::numbers::pi) + series - shift;
}

double kept_from_zero(double x) {
  constexpr double kTiny = 1e-300;
  return std::abs(x) < kTiny ? kTiny : x;
}

// 1 / (1 + d1 / (1 + d2 / (1 + ...))) of 26.5.8.
double beta_fraction(double a, double b, double x) {
  double c = 1, d = 1 / kept_from_zero(1 - (a + b) * x / (a + 1)), product = d;
  for (int m = 1; m <= 10000; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / kept_from_zero(1 + even * d);
    c = kept_from_zero(1 + even / c);
    product *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / kept_from_zero(1 + odd * d);
    c = kept_from_zero(1 + odd / c);
    const double step = d * c;
    product *= step;
    if (std::abs(step - 1) < 1e-15) return product;
  }
  throw std::logic_error(fmt::format("incomplete beta of {}, {} at {} does not converge", a, b, x));
}

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

void expect_two(std::size_t count) {
  if (count < 2) throw std::invalid_argument(fmt::format("a test needs two values; got {}", count));
}

// Standard error of the difference of two means, and Welch's degrees of freedom.
struct MeanDifference {
  double error, degrees;
};
MeanDifference difference(double deviation, double other, Sizes sizes) {
  expect_two(sizes.before);
  expect_two(sizes.after);
  const auto n = static_cast<double>(sizes.before), m = static_cast<double>(sizes.after);
  const double u = deviation * deviation / n, v = other * other / m;
  if (u + v == 0) return {0, 1};
  return {std::sqrt(u + v), (u + v) * (u + v) / (u * u / (n - 1) + v * v / (m - 1))};
}

Loss bounded(double loss, double error, double degrees, double tail) {
  if (error == 0) return {loss, loss, loss};
  const double reach = student_upper_quantile(tail, degrees) * error;
  return {loss, loss - reach, loss + reach};
}

}  // namespace

double incomplete_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  // The fraction converges fast below the mean only.
  if (x > (a + 1) / (a + b + 2)) return 1 - incomplete_beta(b, a, 1 - x);
  const double front = log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * base::natural_log(x) +
                       b * base::log_one_plus(-x);
  return base::exponential(front) * beta_fraction(a, b, x) / a;
}

double student_upper_tail(double t, double degrees) {
  const double half = 0.5 * incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t));
  return t >= 0 ? half : 1 - half;
}

double student_upper_quantile(double tail, double degrees) {
  if (!(tail > 0 && tail <= 0.5 && degrees > 0)) {
    throw std::invalid_argument(fmt::format("a tail in (0, 0.5] of degrees above 0; got {} of {}", tail, degrees));
  }
  double low = 0, high = 1;
  while (student_upper_tail(high, degrees) > tail) high *= 2;
  for (;;) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) return middle;
    (student_upper_tail(middle, degrees) > tail ? low : high) = middle;
  }
}

Loss paired_loss(std::span<const double> before, std::span<const double> after, double tail) {
  if (before.size() != after.size()) {
    throw std::invalid_argument(fmt::format("{} values cannot be paired with {}", before.size(), after.size()));
  }
  expect_two(before.size());
  std::vector<double> losses(before.size());
  for (std::size_t i = 0; i < losses.size(); ++i) losses[i] = before[i] - after[i];
  const auto count = static_cast<double>(losses.size());
  return bounded(mean(losses), standard_deviation(losses) / std::sqrt(count), count - 1, tail);
}

Loss two_sample_loss(std::span<const double> before, std::span<const double> after, double tail) {
  const MeanDifference found = difference(standard_deviation(before), standard_deviation(after),
                                          {before.size(), after.size()});
  return bounded(mean(before) - mean(after), found.error, found.degrees, tail);
}

double power_of_test(double loss, double deviation, Sizes sizes, double tail, double smallest) {
  const auto [error, welch] = difference(deviation, deviation, sizes);
  const double degrees =
      sizes.before == sizes.after ? welch : static_cast<double>(std::min(sizes.before, sizes.after)) - 1;
  if (error == 0) return loss > smallest ? 1 : 0;
  const double critical = student_upper_quantile(tail, degrees);
  // f(s) = 2 (n/2)^(n/2) / Gamma(n/2) s^(n-1) exp(-n s^2 / 2); nothing of it beyond eight deviations.
  const double half = degrees / 2;
  const double front = base::natural_log(2.0) + half * base::natural_log(half) - log_gamma(half);
  const auto integrand = [&](double s) {
    if (s <= 0) return 0.0;
    const double density = base::exponential(front + (degrees - 1) * base::natural_log(s) - half * s * s);
    const double needed = std::max(smallest, critical * error * s);
    return density * failure_models::normal_cumulative((loss - needed) / error);
  };
  constexpr int kPanels = 400;
  const double reach = 8 / std::sqrt(2 * degrees), low = std::max(0.0, 1 - reach), width = (1 + reach - low) / kPanels;
  double sum = integrand(low) + integrand(low + kPanels * width);
  for (int i = 1; i < kPanels; ++i) sum += (i % 2 == 1 ? 4 : 2) * integrand(low + i * width);
  return sum * width / 3;
}

double detectable_loss(double deviation, Sizes sizes, double tail, double smallest) {
  double low = smallest, high = smallest + 1e-6 + deviation;
  while (power_of_test(high, deviation, sizes, tail, smallest) < kPower) high = smallest + 2 * (high - smallest);
  constexpr int kHalvings = 40;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (power_of_test(middle, deviation, sizes, tail, smallest) < kPower ? low : high) = middle;
  }
  return high;
}

std::size_t counts_needed(double deviation, double tail, double smallest, double loss) {
  if (!(loss > smallest)) throw std::invalid_argument("no count shows a loss below the smallest that matters");
  std::size_t low = 1, high = 2;  // low does not do
  const auto does = [&](std::size_t count) {
    return power_of_test(loss, deviation, {count, count}, tail, smallest) >= kPower;
  };
  while (!does(high)) low = high, high *= 2;
  while (high - low > 1) {
    const std::size_t middle = low + (high - low) / 2;
    (does(middle) ? high : low) = middle;
  }
  return high;
}

double deviation_bound(double deviation, std::size_t count, double confidence) {
  expect_two(count);
  const double degrees = static_cast<double>(count) - 1;
  double low = 0, high = degrees;
  const auto below = [&](double chi_square) {
    return failure_models::gamma_ratio(degrees / 2, chi_square / 2).lower < 1 - confidence;
  };
  while (below(high)) high *= 2;
  for (;;) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) return deviation * std::sqrt(degrees / middle);
    (below(middle) ? low : high) = middle;
  }
}

}  // namespace sim::experiment

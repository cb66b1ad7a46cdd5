// sim/experiment/statistics.cpp: see statistics.h.
#include "sim/experiment/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <stdexcept>

namespace sim::experiment {
namespace {

constexpr double kConfidence = 0.95;

// P(|T| <= t).
//
//   theta = atan(t / sqrt(n))
//   n = 1:     2 theta / pi
//   n odd:     2/pi (theta + sin cos (1 + 2/3 cos^2 + (2 4)/(3 5) cos^4 + ...))   to cos^(n-3)
//   n even:    sin (1 + 1/2 cos^2 + (1 3)/(2 4) cos^4 + ...)                      to cos^(n-2)
double central_probability(double t, std::size_t degrees_of_freedom) {
  const auto n = static_cast<double>(degrees_of_freedom);
  const double theta = std::atan(t / std::sqrt(n));
  const double cosine = std::cos(theta), sine = std::sin(theta);
  const bool odd = degrees_of_freedom % 2 == 1;
  double term = 1.0, sum = degrees_of_freedom > 1 ? 1.0 : 0.0;
  for (double k = odd ? 2.0 : 1.0; k <= n - (odd ? 2.0 : 3.0); k += 2.0) {
    term *= k / (k + 1.0) * cosine * cosine;
    sum += term;
  }
  if (odd) return 2.0 / std::numbers::pi * (theta + sine * cosine * sum);
  return sine * sum;
}

void expect_same_length(std::size_t values, std::size_t reference) {
  if (values != reference) {
    throw std::invalid_argument(
        fmt::format("{} values cannot be paired with {}", values, reference));
  }
}

}  // namespace

double student_t(std::size_t degrees_of_freedom, double confidence) {
  if (degrees_of_freedom == 0) {
    throw std::invalid_argument("degrees_of_freedom must be at least 1; got 0");
  }
  if (!(confidence > 0.0 && confidence < 1.0)) {
    throw std::invalid_argument(fmt::format("confidence must be in (0, 1); got {}", confidence));
  }
  double low = 0.0, high = 1.0;
  while (central_probability(high, degrees_of_freedom) < confidence) high *= 2.0;
  for (;;) {
    const double middle = low + (high - low) / 2.0;
    if (middle <= low || middle >= high) return middle;
    (central_probability(middle, degrees_of_freedom) < confidence ? low : high) = middle;
  }
}

Estimate estimate(std::span<const double> values) { return estimate(values, kConfidence); }

Estimate estimate(std::span<const double> values, double confidence) {
  if (values.empty()) throw std::invalid_argument("an estimate needs at least one value");
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  if (values.size() == 1) return {mean, std::nullopt, 1};
  const double standard_error = standard_deviation(values) / std::sqrt(count);
  return {mean, student_t(values.size() - 1, confidence) * standard_error, values.size()};
}

double standard_deviation(std::span<const double> values) {
  if (values.size() < 2) return 0;
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0.0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / (count - 1.0));
}

Estimate paired_difference(std::span<const double> values, std::span<const double> reference) {
  expect_same_length(values.size(), reference.size());
  std::vector<double> differences(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) differences[i] = values[i] - reference[i];
  return estimate(differences);
}

double median(std::vector<double> values) {
  if (values.empty()) throw std::invalid_argument("a median needs at least one value");
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  if (values.size() % 2 == 1 || values[half - 1] == values[half]) return values[half];
  return values[half - 1] + (values[half] - values[half - 1]) / 2.0;
}

std::string seed_note(std::size_t seeds) {
  if (seeds == 1) return "one seed: no interval";
  if (seeds < 5) return fmt::format("{} seeds: under 5, the interval is rough", seeds);
  return "";
}

std::optional<std::size_t> best_arm(const std::vector<std::vector<double>>& values_by_arm,
                                    Better better) {
  if (values_by_arm.size() < 2) return std::nullopt;
  const std::size_t seeds = values_by_arm.front().size();
  if (seeds < 2) return std::nullopt;
  const double sign = better == Better::kLarger ? 1.0 : -1.0;
  std::vector<std::size_t> order(values_by_arm.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<double> means;
  for (const std::vector<double>& values : values_by_arm) {
    if (values.size() != seeds) return std::nullopt;
    means.push_back(sign * estimate(values).mean);
  }
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return means[a] > means[b]; });
  const Estimate lead = paired_difference(values_by_arm[order[0]], values_by_arm[order[1]]);
  if (sign * lead.mean - *lead.half_width > 0.0) return order[0];
  return std::nullopt;
}

}  // namespace sim::experiment

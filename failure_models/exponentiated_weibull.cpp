// failure_models/exponentiated_weibull.cpp: see exponentiated_weibull.h for the contract.
#include "failure_models/exponentiated_weibull.h"

#include <array>
#include <cstddef>

#include "sim/base/elementary.h"

namespace failure_models {
namespace {

using sim::base::exponential;
using sim::base::exponential_minus_one;
using sim::base::log_one_plus;
using sim::base::natural_log;

struct Node {
  double position, weight;
};

// The rule r = exp(v - exp(-v)), v in steps of 1/24 from -3.75 to 8.75: it turns a function on
// (0, infinity) that falls exponentially into one that falls doubly exponentially both ways, where
// the trapezoidal sum converges faster than any power of the step.
constexpr std::size_t kNodeCount = 301;

const std::array<Node, kNodeCount>& nodes() {
  static const std::array<Node, kNodeCount> table = [] {
    std::array<Node, kNodeCount> made;
    for (std::size_t i = 0; i < kNodeCount; ++i) {
      const double v = static_cast<double>(i) / 24.0 - 3.75;
      const double fall = exponential(-v);
      const double r = exponential(v - fall);
      made[i] = {r, r * (1.0 + fall) / 24.0};
    }
    return made;
  }();
  return table;
}

// Integral of f over (0, infinity); f is negligible from `end` on.
template <typename Function>
double half_line_integral(double end, const Function& f) {
  double sum = 0.0;
  for (const Node& node : nodes()) {
    if (node.position > end) break;
    sum += node.weight * f(node.position);
  }
  return sum;
}

// log(1 - e^-y), accurate at both ends.
double log_plain_cumulative(double y) {
  if (y < 0.7) return natural_log(-exponential_minus_one(-y));
  return log_one_plus(-exponential(-y));
}

}  // namespace

double ExponentiatedWeibull::survival(double y) const {
  return -exponential_minus_one(power * log_plain_cumulative(y));
}

double ExponentiatedWeibull::cumulative(double y) const {
  return exponential(power * log_plain_cumulative(y));
}

double ExponentiatedWeibull::inverse(double lower_probability, double upper_probability) const {
  const double log_lower = lower_probability < 0.5 ? natural_log(lower_probability)
                                                   : log_one_plus(-upper_probability);
  const double log_plain = log_lower / power;  // log(1 - e^-y)
  if (log_plain < -0.7) return -log_one_plus(-exponential(log_plain));
  return -natural_log(-exponential_minus_one(log_plain));
}

// With y e^-r for the integration variable, x = y^(1/shape) e^(-r/shape).
double ExponentiatedWeibull::area_below(double y) const {
  const double rate = 1.0 / shape;
  const auto slice = [&](double r) { return survival(y * exponential(-r)) * exponential(-rate * r); };
  return sim::base::power(y, rate) * rate * half_line_integral(45.0 * shape, slice);
}

// From 1 on with y + r for the variable, where survival falls like e^-r; below 1 the two areas are
// of one size and adding loses nothing.
double ExponentiatedWeibull::area_above(double y) const {
  if (y < 1.0) return (area_below(1.0) - area_below(y)) + area_above(1.0);
  const double rate = 1.0 / shape;
  const auto slice = [&](double r) {
    return survival(y + r) * sim::base::power(y + r, rate - 1.0);
  };
  return rate * half_line_integral(700.0, slice);
}

}  // namespace failure_models

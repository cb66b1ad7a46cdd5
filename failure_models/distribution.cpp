// failure_models/distribution.cpp: the laws and their inverses; see equilibrium.cpp for ages.
#include "failure_models/distribution.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string_view>

#include "failure_models/exponentiated_weibull.h"
#include "failure_models/gamma.h"
#include "failure_models/normal.h"
#include "sim/base/elementary.h"

namespace failure_models {
namespace {

using sim::base::exponential;
using sim::base::exponential_minus_one;
using sim::base::log_one_plus;
using sim::base::natural_log;
using sim::base::power;

void expect_range(std::string_view what, double value, double least, double most) {
  if (value >= least && value <= most) return;
  throw std::invalid_argument(
      fmt::format("{} must be from {} to {}; got {}", what, least, most, value));
}

void expect_valid(const DistributionOptions& options) {
  const bool may_be_zero = options.law == Law::kConstant;
  if (!(options.mean_s > 0.0 || (may_be_zero && options.mean_s == 0.0)) ||
      std::isinf(options.mean_s)) {
    throw std::invalid_argument(
        fmt::format("mean_s must be positive and finite; got {}", options.mean_s));
  }
  const bool exponentiated = options.law == Law::kExponentiatedWeibull;
  if (options.law == Law::kWeibull || exponentiated) {
    expect_range("shape", options.shape, 0.01, 100.0);
  }
  if (exponentiated) expect_range("power", options.power, 0.01, 1000.0);
  if (options.law == Law::kLognormal) {
    expect_range("sigma", options.sigma, std::numeric_limits<double>::min(), 20.0);
  }
}

double scale_for_mean_s(const DistributionOptions& options) {
  switch (options.law) {
    case Law::kConstant:
    case Law::kExponential: return options.mean_s;
    case Law::kWeibull: return options.mean_s / gamma_function(1.0 + 1.0 / options.shape);
    case Law::kExponentiatedWeibull: {
      const ExponentiatedWeibull unit{options.shape, options.power};
      return options.mean_s / (unit.area_below(1.0) + unit.area_above(1.0));
    }
    case Law::kLognormal: break;
  }
  return options.mean_s * exponential(-0.5 * options.sigma * options.sigma);
}

void expect_probability(double u) {
  if (!(u > 0.0 && u < 1.0)) {
    throw std::invalid_argument(fmt::format("a quantile needs 0 < u < 1; got {}", u));
  }
}

}  // namespace

Distribution::Distribution(const DistributionOptions& options) : options_(options) {
  expect_valid(options);
  scale_s_ = scale_for_mean_s(options);
}

double Distribution::draw_s(sim::base::Stream& stream) const {
  return quantile(stream.next_uniform());
}

double Distribution::draw_residual_s(sim::base::Stream& stream) const {
  return equilibrium_quantile(stream.next_uniform());
}

double Distribution::draw_residual_at_age_s(double age_s, sim::base::Stream& stream) const {
  return residual_quantile(age_s, stream.next_uniform());
}

double Distribution::cumulative(double t_s) const {
  if (options_.law == Law::kConstant) return t_s >= options_.mean_s ? 1.0 : 0.0;
  if (!(t_s > 0.0)) return 0.0;
  switch (options_.law) {
    case Law::kExponential: return -exponential_minus_one(-t_s / scale_s_);
    case Law::kWeibull: return -exponential_minus_one(-hazard(t_s));
    case Law::kExponentiatedWeibull:
      return ExponentiatedWeibull{options_.shape, options_.power}.cumulative(hazard(t_s));
    default: return normal_cumulative(log_ratio(t_s));
  }
}

double Distribution::survival(double t_s) const {
  if (options_.law == Law::kConstant) return t_s >= options_.mean_s ? 0.0 : 1.0;
  if (!(t_s > 0.0)) return 1.0;
  switch (options_.law) {
    case Law::kExponential: return exponential(-t_s / scale_s_);
    case Law::kWeibull: return exponential(-hazard(t_s));
    case Law::kExponentiatedWeibull:
      return ExponentiatedWeibull{options_.shape, options_.power}.survival(hazard(t_s));
    default: return normal_cumulative(-log_ratio(t_s));
  }
}

double Distribution::quantile(double u) const {
  expect_probability(u);
  switch (options_.law) {
    case Law::kConstant: return options_.mean_s;
    case Law::kExponential: return -scale_s_ * log_one_plus(-u);
    case Law::kWeibull: return scale_s_ * power(-log_one_plus(-u), 1.0 / options_.shape);
    case Law::kExponentiatedWeibull: {
      const ExponentiatedWeibull unit{options_.shape, options_.power};
      return scale_s_ * power(unit.inverse(u, 1.0 - u), 1.0 / options_.shape);
    }
    case Law::kLognormal: break;
  }
  return scale_s_ * exponential(options_.sigma * normal_quantile(u, 1.0 - u));
}

double Distribution::hazard(double t_s) const { return power(t_s / scale_s_, options_.shape); }

double Distribution::log_ratio(double t_s) const {
  return natural_log(t_s / scale_s_) / options_.sigma;
}

}  // namespace failure_models

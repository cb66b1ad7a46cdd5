// failure_models/distribution.h: laws for time to failure and time to repair.
#pragma once

#include <cstdint>

#include "sim/base/random.h"

namespace failure_models {

enum class Law : std::uint8_t {
  kConstant, kExponential, kWeibull, kExponentiatedWeibull, kLognormal,
};

// All laws are given by their mean; the scale follows.
struct DistributionOptions {
  Law law;
  double mean_s;       // > 0 (kConstant: >= 0)
  double shape;        // Weibull and exponentiated Weibull: k > 0
  double power;        // exponentiated Weibull: alpha > 0, F(t) = (1 - exp(-(t/scale)^shape))^alpha
  double sigma;        // lognormal: sd of ln t, > 0
};

class Distribution {
 public:
  // Requires: parameters in the ranges above; else std::invalid_argument.
  explicit Distribution(const DistributionOptions& options);

  // One variate by inversion; exactly one word of the stream (lognormal: two).
  double draw_s(sim::base::Stream& stream) const;
  // Remaining life at equilibrium age: density (1 - F(t)) / mean. One word, except lognormal.
  double draw_residual_s(sim::base::Stream& stream) const;
  // Remaining life given age_s; kConstant: max(0, mean - age).
  double draw_residual_at_age_s(double age_s, sim::base::Stream& stream) const;

  double mean_s() const { return options_.mean_s; }
  double cumulative(double t_s) const;   // F(t)
  double quantile(double u) const;       // inverse of F, u in (0, 1)

 private:
  DistributionOptions options_;
  double scale_s_ = 0;   // of the (exponentiated) Weibull; exp(mu) of the lognormal
};

}  // namespace failure_models

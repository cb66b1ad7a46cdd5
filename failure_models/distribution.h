// failure_models/distribution.h: laws for time to failure and time to repair.
//
// Every variate is drawn by inversion of one uniform: it costs exactly one word whatever the law,
// it grows with that word, and two laws fed the same stream stay paired draw by draw.
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
  double shape;        // Weibull and exponentiated Weibull: k in [0.01, 100]
  double power;        // exponentiated Weibull: alpha in [0.01, 1000],
                       //   F(t) = (1 - exp(-(t/scale)^shape))^alpha
  double sigma;        // lognormal: sd of ln t, in (0, 20]
};

class Distribution {
 public:
  // Requires: the parameters that the law uses in the ranges above; else std::invalid_argument.
  explicit Distribution(const DistributionOptions& options);

  // One variate; one word of the stream, as for all draws below.
  double draw_s(sim::base::Stream& stream) const;
  // Remaining life at equilibrium age: density (1 - F(t)) / mean.
  double draw_residual_s(sim::base::Stream& stream) const;
  // Remaining life given age_s; kConstant: max(0, mean - age).
  double draw_residual_at_age_s(double age_s, sim::base::Stream& stream) const;

  double mean_s() const { return options_.mean_s; }
  double cumulative(double t_s) const;  // F(t)
  double survival(double t_s) const;    // 1 - F(t), accurate where F is near 1

  // What the draws above return for the uniform u. All grow with u.
  //
  // Requires: 0 < u < 1, age_s >= 0; else std::invalid_argument. An age that less than 1e-300 of
  //           lognormal lives reach is refused too.
  double quantile(double u) const;                          // inverse of F
  double equilibrium_quantile(double u) const;              // inverse of equilibrium_cumulative
  double residual_quantile(double age_s, double u) const;   // survival(age + t) = (1 - u) survival(age)

  // Share of remaining lives at equilibrium age that end by t, or after it:
  //
  //   equilibrium_cumulative(t) = integral from 0 to t of (1 - F) / mean
  //
  // Closed for all laws but the exponentiated Weibull, which sums about 300 terms (some 40 us; a
  // quantile takes about eight of them).
  // Source: Cox 1962, "Renewal Theory", chapter 5.
  double equilibrium_cumulative(double t_s) const;
  double equilibrium_survival(double t_s) const;

 private:
  double hazard(double t_s) const;       // (t / scale)^shape
  double log_ratio(double t_s) const;    // lognormal: (ln t - mu) / sigma
  double equilibrium_newton_step_s(double t_s, double u) const;
  double age_hazard_quantile(double age_s, double hazard_added) const;

  DistributionOptions options_;
  double scale_s_ = 0;   // of the (exponentiated) Weibull; exp(mu) of the lognormal
};

}  // namespace failure_models

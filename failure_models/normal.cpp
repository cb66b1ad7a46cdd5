// failure_models/normal.cpp: see normal.h for the contract.
#include "failure_models/normal.h"

#include <cmath>
#include <stdexcept>

#include "failure_models/gamma.h"
#include "sim/base/elementary.h"

namespace failure_models {
namespace {

double density(double z) {
  constexpr double kInverseSquareRootOfTwoPi = 0x1.9884533d43651p-2;
  return kInverseSquareRootOfTwoPi * sim::base::exponential(-0.5 * z * z);
}

// The z <= 0 with P(Z <= z) = tail, tail <= 1/2.
double lower_quantile(double tail) {
  const double t = std::sqrt(-2.0 * sim::base::natural_log(tail));
  double z = (2.515517 + t * (0.802853 + t * 0.010328)) /
                 (1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308))) -
             t;  // within 4.5e-4
  for (int i = 0; i < 3; ++i) {
    const double error = (normal_cumulative(z) - tail) / density(z);
    z -= error / (1.0 + 0.5 * z * error);
  }
  return z;
}

}  // namespace

double normal_cumulative(double z) {
  const GammaRatio ratio = gamma_ratio(0.5, 0.5 * z * z);
  return z < 0.0 ? 0.5 * ratio.upper : 0.5 + 0.5 * ratio.lower;
}

double normal_quantile(double lower_probability, double upper_probability) {
  if (!(lower_probability > 0.0 && upper_probability > 0.0 &&
        std::abs(lower_probability + upper_probability - 1.0) < 1e-9)) {
    throw std::invalid_argument("normal_quantile needs two positive tails with sum 1");
  }
  if (lower_probability <= 0.5) return lower_quantile(lower_probability);
  return -lower_quantile(upper_probability);
}

}  // namespace failure_models

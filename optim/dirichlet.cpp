// optim/dirichlet.cpp: see dirichlet.h.
#include "optim/dirichlet.h"

#include <algorithm>
#include <cmath>

#include "sim/base/elementary.h"

namespace optim {

using sim::base::exponential;
using sim::base::natural_log;

double log_gamma_variate(double shape, sim::base::Stream& stream) {
  if (shape < 1.0) {
    const double power = natural_log(stream.next_uniform()) / shape;
    return power + log_gamma_variate(shape + 1.0, stream);
  }
  const double d = shape - 1.0 / 3.0;
  const double c = 1.0 / std::sqrt(9.0 * d);
  for (;;) {
    const double z = stream.next_normal(), u = stream.next_uniform();
    const double root = 1.0 + c * z;
    if (root <= 0.0) continue;
    const double v = root * root * root, log_v = natural_log(v);
    if (natural_log(u) < 0.5 * z * z + d - d * v + d * log_v) return natural_log(d) + log_v;
  }
}

void draw_dirichlet(double concentration, std::span<double> shares, sim::base::Stream& stream) {
  for (double& share : shares) share = log_gamma_variate(concentration, stream);
  const double highest = *std::ranges::max_element(shares);  // exp of the highest is 1
  double sum = 0.0;
  for (double& share : shares) sum += share = exponential(share - highest);
  for (double& share : shares) share /= sum;
}

}  // namespace optim

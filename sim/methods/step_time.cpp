// sim/methods/step_time.cpp: see step_time.h.
#include "sim/methods/step_time.h"

#include <stdexcept>

namespace sim::methods {

double useful_flops_per_s(const NominalModelOptions& model, std::int64_t chips, double peak_flops,
                          double speed) {
  if (chips <= 0 || !(peak_flops > 0)) {
    throw std::invalid_argument("step time: needs at least one chip with a peak above 0");
  }
  return static_cast<double>(chips) * peak_flops * model.utilization * speed;
}

double step_flop(const NominalModelOptions& model, double tokens) {
  return 6.0 * static_cast<double>(model.parameters) * tokens;
}

}  // namespace sim::methods

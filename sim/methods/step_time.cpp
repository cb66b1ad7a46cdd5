// sim/methods/step_time.cpp: how long a training step computes.
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

double island_flops_per_s(const NominalModelOptions& model, const IslandOptions& island) {
  return useful_flops_per_s(model, island.chips, island.peak_flops, island.speed);
}

double step_flop(const NominalModelOptions& model, double tokens) {
  return 6.0 * static_cast<double>(model.parameters) * tokens;
}

base::Nanoseconds step_time(const NominalModelOptions& model, std::int64_t chips, double peak_flops,
                            double tokens_of_learner) {
  return base::from_seconds(step_flop(model, tokens_of_learner) /
                            useful_flops_per_s(model, chips, peak_flops));
}

double native_tokens_per_s(const NominalModelOptions& model,
                           const std::vector<IslandOptions>& islands) {
  double flops_per_s = 0;
  for (const IslandOptions& island : islands) {
    flops_per_s += static_cast<double>(island.count) * island_flops_per_s(model, island);
  }
  return flops_per_s / step_flop(model, 1.0);
}

}  // namespace sim::methods

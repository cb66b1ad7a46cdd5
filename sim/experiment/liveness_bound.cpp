// sim/experiment/liveness_bound.cpp: see liveness_bound.h.
#include "sim/experiment/liveness_bound.h"

#include <algorithm>

#include "sim/scenario/forecast.h"

namespace sim::experiment {
namespace {

// Over the slowest link or fabric that there is; 0 without a network.
double copy_seconds(const scenario::Scenario& scenario, std::int64_t learners) {
  if (scenario.network.model == engine::NetworkModel::kNone) return 0;
  double slowest = scenario.network.regions.front().fabric_bytes_per_s;
  double delay = 0;
  for (const auto& region : scenario.network.regions) {
    slowest = std::min(slowest, region.fabric_bytes_per_s);
    delay = std::max(delay, base::to_seconds(region.fabric_latency));
  }
  for (const auto& link : scenario.network.links) {
    slowest = std::min(slowest, link.bytes_per_s);
    delay = std::max(delay, base::to_seconds(link.rtt));
  }
  const auto& model = scenario.model;
  const double bytes = static_cast<double>(model.parameters) *
                       (model.state_bytes + model.syncer_state_bytes) *
                       static_cast<double>(learners);
  return bytes / slowest + delay * static_cast<double>(scenario.network.regions.size());
}

}  // namespace

base::Nanoseconds liveness_bound(const scenario::Scenario& scenario, const scenario::Arm& arm) {
  const scenario::ArmForecast forecast = scenario::forecast_load(scenario, arm);
  const methods::TrainingOptions& training = arm.training;
  // A noisy step may take so many standard deviations more.
  constexpr double kDeviations = 4;
  const double noise = 1 + kDeviations * (scenario.spread.step_sd + scenario.spread.island_sd);
  const double step_s =
      base::to_seconds(forecast.step_time) * noise +
                        base::to_seconds(forecast.exchange_per_step + forecast.stall_per_step);
  const bool merges = training.method != methods::MethodKind::kDataParallel;
  const double rounds = merges ? static_cast<double>(training.sync_every) : 1.0;
  const auto& elastic = training.elasticity;
  const base::Nanoseconds fixed = elastic.detection + elastic.timeout + elastic.restart +
                                  elastic.downscale + elastic.upscale + training.checkpoint.load +
                                  training.checkpoint.save;
  const double seconds =
      2 * (rounds * step_s + copy_seconds(scenario, forecast.learners)) + base::to_seconds(fixed);
  const double most = base::to_seconds(base::kNever);
  return seconds >= most ? base::kNever : base::from_seconds(seconds) + base::kSecond;
}

}  // namespace sim::experiment

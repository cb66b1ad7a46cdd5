// sim/scenario/step_forecast.cpp: see step_forecast.h.
#include "sim/scenario/step_forecast.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "sim/engine/collectives.h"
#include "sim/methods/gradient_reduction.h"
#include "sim/scenario/wide_reduce.h"

namespace sim::scenario {
namespace {

using methods::TrainingOptions;

std::map<std::uint16_t, std::size_t> slices_by_region(const methods::Fleet& fleet,
                                                      const tape::LearnerShape& learner) {
  std::map<std::uint16_t, std::size_t> count;
  for (const std::uint32_t slice : learner.slices) ++count[fleet.shape.slices[slice].region];
  return count;
}

// Seconds that all gradients take on the slowest wide link. A flat ring has all slices for members.
double transfer_s(const WideReduce& wide, double bytes, const TrainingOptions& training, double regions,
                  double slices) {
  const double two_level = bytes * wide.s_per_byte;
  if (training.reduce != methods::ReduceKind::kRing) return two_level;
  return two_level * ((slices - 1) / slices) / ((regions - 1) / regions);
}

// All buckets but the last leave from a third of the step on; the last one when the backward pass is done.
double exposed_wide_s(double compute_s, double transfer, double local_s, double delay_s, double buckets) {
  const double bulk_end = compute_s / 3 + 2 * compute_s / 3 / buckets + transfer * (1 - 1 / buckets);
  const double last = std::max({bulk_end, compute_s, compute_s / 3 + local_s}) + transfer / buckets;
  return last + delay_s + local_s / buckets - compute_s;
}

}  // namespace

LearnerStep learner_step(const Scenario& scenario, const TrainingOptions& training,
                         const methods::Fleet& fleet, const tape::LearnerShape& learner) {
  LearnerStep step{};
  for (const std::uint32_t slice : learner.slices) {
    step.compute = std::max(step.compute, fleet.slice_step_time[slice]);
  }
  if (scenario.network.model == engine::NetworkModel::kNone) return step;
  const double bytes = static_cast<double>(scenario.model.parameters) * scenario.model.gradient_bytes;
  const auto members = slices_by_region(fleet, learner);
  base::Nanoseconds local = 0;
  std::vector<std::string> regions;
  for (const auto& [region, count] : members) {
    regions.push_back(scenario.network.regions[region].name);
    local = std::max(local, engine::local_all_reduce(scenario.network.regions[region], count,
                                                     static_cast<std::int64_t>(bytes)));
  }
  step.is_wide = regions.size() > 1;
  if (!step.is_wide) {
    step.exposed_s = base::to_seconds(methods::exposed_reduction(local, step.compute, training.buckets));
    return step;
  }
  const WideReduce wide = wide_reduce(scenario.network, regions);
  const double transfer = transfer_s(wide, bytes, training, static_cast<double>(regions.size()),
                                     static_cast<double>(learner.slices.size()));
  step.exposed_s = exposed_wide_s(base::to_seconds(step.compute), transfer, base::to_seconds(local),
                                  base::to_seconds(wide.delay), static_cast<double>(training.buckets));
  return step;
}

std::vector<double> learner_steps_s(const Scenario& scenario, const TrainingOptions& training,
                                    const methods::Fleet& fleet) {
  constexpr double kLeast = 1e-9;
  const double mean = std::exp(scenario.spread.step_sd * scenario.spread.step_sd / 2);
  std::vector<double> steps;
  for (const auto& learner : fleet.shape.learners) {
    const LearnerStep step = learner_step(scenario, training, fleet, learner);
    steps.push_back(std::max(kLeast, base::to_seconds(step.compute) * mean + step.exposed_s));
  }
  return steps;
}

}  // namespace sim::scenario

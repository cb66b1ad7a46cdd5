// sim/scenario/step_forecast.cpp: see step_forecast.h.
#include "sim/scenario/step_forecast.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "sim/engine/collectives.h"
#include "sim/methods/gradient_reduction.h"

namespace sim::scenario {
namespace {

using methods::TrainingOptions;

std::map<std::uint16_t, std::size_t> slices_by_region(const methods::Fleet& fleet,
                                                      const tape::LearnerShape& learner) {
  std::map<std::uint16_t, std::size_t> count;
  for (const std::uint32_t slice : learner.slices) ++count[fleet.shape.slices[slice].region];
  return count;
}

// What an edge carries of each byte that is reduced: the slices are the members of a flat ring.
double edge_share(const TrainingOptions& training, std::size_t regions, std::size_t slices) {
  const auto n = static_cast<double>(training.reduce == methods::ReduceKind::kRing ? slices : regions);
  return 2 * (n - 1) / n;
}

// The first buckets leave when they are ready, the last when the backward pass (two thirds) is done.
// Source: logic of the Decoupled DiLoCo authors' bandwidth page, closed form (facts 3.3).
base::Nanoseconds exposed_wide(const engine::ReducePlan& plan, double share, std::int64_t bytes,
                               std::int64_t buckets, base::Nanoseconds compute, base::Nanoseconds local) {
  constexpr double kRest = 1e-3;  // in whole bytes, up, but for what the doubles of a share lose
  const auto exchange = [&](std::int64_t payload, base::Nanoseconds already) {
    return plan.exchange_time(
        static_cast<std::int64_t>(std::ceil(share * static_cast<double>(payload) - kRest)), already);
  };
  const std::int64_t last = bytes / buckets;
  const base::Nanoseconds first_ready = compute / 3 + 2 * compute / 3 / buckets;
  const base::Nanoseconds ready = std::max(compute, compute / 3 + local);
  const base::Nanoseconds begun = std::max(ready, first_ready + exchange(bytes - last, 0));
  return begun + exchange(last, begun - ready) + plan.extra_latency + local / buckets - compute;
}

}  // namespace

LearnerStep learner_step(const Scenario& scenario, const TrainingOptions& training,
                         const methods::Fleet& fleet, const tape::LearnerShape& learner,
                         NominalPlans& plans) {
  LearnerStep step{};
  for (const std::uint32_t slice : learner.slices) {
    step.compute = std::max(step.compute, fleet.slice_step_time[slice]);
  }
  if (scenario.network.model == engine::NetworkModel::kNone) return step;
  const auto bytes = static_cast<std::int64_t>(static_cast<double>(scenario.model.parameters) *
                                               scenario.model.gradient_bytes);
  base::Nanoseconds local = 0;
  std::vector<std::uint16_t> regions;
  for (const auto& [region, count] : slices_by_region(fleet, learner)) {
    regions.push_back(region);
    local = std::max(local, engine::local_all_reduce(scenario.network.regions[region], count, bytes));
  }
  step.is_wide = regions.size() > 1;
  if (!step.is_wide) {
    step.exposed = methods::exposed_reduction(local, step.compute, training.buckets);
    return step;
  }
  const double share = edge_share(training, regions.size(), learner.slices.size());
  step.exposed = exposed_wide(plans.plan(regions, bytes), share, bytes, training.buckets, step.compute, local);
  return step;
}

std::vector<double> learner_steps_s(const Scenario& scenario, const TrainingOptions& training,
                                    const methods::Fleet& fleet, NominalPlans& plans) {
  constexpr double kLeast = 1e-9;
  const double mean = std::exp(scenario.spread.step_sd * scenario.spread.step_sd / 2);
  std::vector<double> steps;
  for (const auto& learner : fleet.shape.learners) {
    const LearnerStep step = learner_step(scenario, training, fleet, learner, plans);
    steps.push_back(std::max(kLeast, base::to_seconds(step.compute) * mean + base::to_seconds(step.exposed)));
  }
  return steps;
}

}  // namespace sim::scenario

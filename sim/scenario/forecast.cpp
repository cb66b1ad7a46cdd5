// sim/scenario/forecast.cpp: step times, link needs and costs of an arm, by arithmetic.
#include "sim/scenario/forecast.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "optim/wire_format.h"
#include "sim/methods/fleet.h"
#include "sim/scenario/arm_fleet.h"
#include "sim/scenario/cpu_forecast.h"
#include "sim/scenario/link_forecast.h"
#include "sim/scenario/step_forecast.h"

namespace sim::scenario {

using methods::MethodKind;

namespace {

bool meets_centrally(const methods::TrainingOptions& training) {
  return training.method == MethodKind::kDecoupledDiloco &&
         training.syncer.placement == methods::SyncerPlacement::kCentral;
}

// Of the links between regions in use, bytes/s; 0: there are none.
double slowest_link(const Scenario& scenario, const methods::TrainingOptions& training) {
  const std::vector<std::string> regions = used_regions(scenario, training);
  double slowest = std::numeric_limits<double>::infinity();
  for (const auto& link : scenario.network.links) {
    const auto used = [&](const std::string& name) {
      return std::find(regions.begin(), regions.end(), name) != regions.end();
    };
    if (used(link.region_a) && used(link.region_b)) slowest = std::min(slowest, link.bytes_per_s);
  }
  const bool nothing = regions.size() < 2 || scenario.network.model == engine::NetworkModel::kNone;
  return nothing || !std::isfinite(slowest) ? 0 : slowest;
}

// What a join costs on the slowest link: the state, and one round of fragments.
void forecast_join(const Scenario& scenario, const methods::TrainingOptions& training,
                   ArmForecast& result) {
  const double link = slowest_link(scenario, training);
  if (link == 0) return;
  const auto parameters = static_cast<double>(scenario.model.parameters);
  const base::Nanoseconds state =
      base::from_seconds(parameters * scenario.model.state_bytes / link);
  if (training.method == MethodKind::kDataParallel) {
    result.upsize_downtime = upsize_downtime(state, 0, 0);
    return;
  }
  result.recovery_time = state;
  result.upsize_downtime = upsize_downtime(
      state, base::from_seconds(parameters * optim::bits_per_value(training.wire) / 8.0 / link),
      result.cycle_time);
}

double steps_to_last_mark(const Scenario& scenario, double period_s) {
  const double by_time = base::to_seconds(scenario.marks.time) / period_s;
  const double by_tokens = scenario.marks.tokens / static_cast<double>(scenario.model.batch_tokens);
  const double limit = base::to_seconds(scenario.marks.limit) / period_s;
  return std::min(std::max(by_time, by_tokens), limit);
}

}  // namespace

base::Nanoseconds upsize_downtime(base::Nanoseconds state_time, base::Nanoseconds round_time,
                                  base::Nanoseconds cycle_time) {
  return std::max<base::Nanoseconds>(0, state_time + round_time - cycle_time);
}

namespace {

// Data parallel exchanges within its one learner, and a central syncer over the ways to it.
WideReduce wide_reduce_of(const Scenario& scenario, const methods::TrainingOptions& training,
                          const methods::Fleet& fleet, NominalPlans& plans) {
  if (training.method == MethodKind::kDataParallel || meets_centrally(training)) return {};
  return wide_reduce(plans, used_region_indices(scenario, training),
                     largest_fragment_bytes(training, fleet));
}

methods::Fleet fleet_of(const Scenario& scenario, const methods::TrainingOptions& training) {
  return methods::make_fleet(scenario.model, scenario.spread, scenario.network, scenario.islands,
                             training, 0, scenario.seed);
}

// The slowest learner's compute and exchange; returns seconds of the fastest's whole step.
double add_steps(const Scenario& scenario, const methods::TrainingOptions& training,
                 const methods::Fleet& fleet, NominalPlans& plans, ArmForecast& result) {
  double fastest_s = std::numeric_limits<double>::infinity(), slowest_s = 0;
  for (const auto& learner : fleet.shape.learners) {
    const LearnerStep step = learner_step(scenario, training, fleet, learner, plans);
    const double whole_s = base::to_seconds(step.compute + step.exposed);
    fastest_s = std::min(fastest_s, whole_s);
    if (whole_s < slowest_s) continue;
    slowest_s = whole_s;
    result.step_time = step.compute;
    result.exchange_per_step = step.exposed;
  }
  return fastest_s;
}

// Barriers: the largest fragment's sync, and what of it holds a step up where learners wait for it.
void add_barriers(const Scenario& scenario, const methods::TrainingOptions& training,
                  const methods::Fleet& fleet, NominalPlans& plans, ArmForecast& result) {
  const double step_s = base::to_seconds(result.step_time + result.exchange_per_step);
  const double sync = base::to_seconds(sync_time(scenario, training, fleet, plans));
  const double late = std::max(0.0, sync - static_cast<double>(training.overlap_steps) * step_s);
  result.sync_time = base::from_seconds(sync);
  if (!result.stalls) return;
  result.stall_per_step = base::from_seconds(late * static_cast<double>(training.fragments) /
                                             static_cast<double>(training.sync_every));
}

void add_links(const Scenario& scenario, const LinkBytes& bytes, double pace_s, ArmForecast& result) {
  for (const auto& [ends, volume] : bytes) {
    const double available = find_link(scenario.network, ends.first, ends.second)->bytes_per_s;
    const double needed = volume / pace_s;
    result.links.push_back({ends.first, ends.second, needed, available,
                            needed > 0 ? available / needed : std::numeric_limits<double>::infinity()});
  }
}

ArmForecast load_of(const Scenario& scenario, const Arm& arm, const methods::Fleet& fleet,
                    NominalPlans& plans) {
  const methods::TrainingOptions& training = arm.training;
  ArmForecast result{};
  result.name = training.name;
  result.learners = static_cast<std::int64_t>(fleet.shape.learners.size());
  const bool barriers = methods::meets_at_barriers(training.method);
  const bool data_parallel = training.method == MethodKind::kDataParallel;
  result.stalls =
      data_parallel || (barriers && training.late == methods::LatePolicy::kBlock);
  const double fastest_s = add_steps(scenario, training, fleet, plans, result);
  if (data_parallel) std::swap(result.stall_per_step, result.exchange_per_step);
  if (barriers) add_barriers(scenario, training, fleet, plans, result);
  const base::Nanoseconds period =
      result.step_time + result.exchange_per_step + result.stall_per_step;
  if (!data_parallel) result.cycle_time = period * training.sync_every;
  forecast_join(scenario, training, result);
  // The syncer's pace is that of its fastest learner; data parallel has the pace that it has.
  const double period_s = std::max(1e-9, base::to_seconds(period));
  add_links(scenario, bytes_per_step(scenario, training, fleet, plans),
            data_parallel || barriers ? period_s : std::max(1e-9, fastest_s), result);
  const double global_steps = steps_to_last_mark(scenario, period_s);
  result.learner_steps = global_steps * static_cast<double>(result.learners);
  result.cpu_s = cpu_seconds(arm.learning, global_steps, result.learner_steps);
  return result;
}

}  // namespace

ArmForecast forecast_load(const Scenario& scenario, const Arm& arm) {
  NominalPlans plans(scenario.network);
  return load_of(scenario, arm, fleet_of(scenario, arm.training), plans);
}

ArmForecast forecast_arm(const Scenario& scenario, const Arm& arm) {
  NominalPlans plans(scenario.network);
  return forecast_arm(scenario, arm, plans);
}

ArmForecast forecast_arm(const Scenario& scenario, const Arm& arm, NominalPlans& plans) {
  const methods::Fleet fleet = fleet_of(scenario, arm.training);
  const WideReduce wide = wide_reduce_of(scenario, arm.training, fleet, plans);
  ArmForecast result = load_of(scenario, arm, fleet, plans);
  result.merges = forecast_merges(scenario, arm, fleet, wide, plans);
  return result;
}

std::vector<ArmForecast> forecast(const Scenario& scenario) {
  NominalPlans plans(scenario.network);
  std::vector<ArmForecast> result;
  for (const Arm& arm : scenario.arms) result.push_back(forecast_arm(scenario, arm, plans));
  return result;
}

std::pair<double, double> slice_step_range(const Scenario& scenario, const Arm& arm) {
  const methods::Fleet fleet = fleet_of(scenario, arm.training);
  base::Nanoseconds fastest = base::kNever, slowest = 0;
  for (const auto& learner : fleet.shape.learners) {
    for (const std::uint32_t slice : learner.slices) {
      fastest = std::min(fastest, fleet.slice_step_time[slice]);
      slowest = std::max(slowest, fleet.slice_step_time[slice]);
    }
  }
  return {base::to_seconds(fastest), base::to_seconds(slowest)};
}

OverlapFit fitting_overlap(const Scenario& scenario, const Arm& arm, NominalPlans& plans) {
  const methods::TrainingOptions& training = arm.training;
  const methods::Fleet fleet = fleet_of(scenario, training);
  return overlap_fit(scenario, arm, fleet, wide_reduce_of(scenario, training, fleet, plans), plans);
}

void resolve_overlap(const Scenario& scenario, Arm& arm) {
  if (!arm.training.overlap_fit) return;
  try {
    NominalPlans plans(scenario.network);
    arm.training.overlap_steps = fitting_overlap(scenario, arm, plans).overlap_steps;
  } catch (const std::invalid_argument&) {
    // Told by the check of links, which comes next.
  }
}

}  // namespace sim::scenario

// sim/scenario/forecast.cpp: step times, link needs and costs of an arm, by arithmetic.
#include "sim/scenario/forecast.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "optim/model.h"
#include "optim/wire_format.h"
#include "sim/base/units.h"
#include "sim/methods/fleet.h"
#include "sim/scenario/arm_fleet.h"
#include "sim/scenario/link_forecast.h"

namespace sim::scenario {

using methods::MethodKind;

namespace {

// Assumed speed of the mathematics and of the world, for a first idea of run time on one core.
constexpr double kProxyFlopPerCpuSecond = 4e9;
constexpr double kWorldCpuSecondsPerStep = 4e-6;

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

double cpu_seconds(const Arm& arm, double global_steps, double learner_steps) {
  const double world = learner_steps * kWorldCpuSecondsPerStep;
  if (arm.learning.model.kind == optim::ModelKind::kNone) return world;
  const auto parameters =
      static_cast<double>(optim::make_model(arm.learning.model)->parameter_count());
  // A sequence meets the parameters at each of its positions.
  const double positions = arm.learning.task.form == optim::ExampleForm::kTokens
                               ? static_cast<double>(arm.learning.task.context)
                               : 1.0;
  const double examples = positions * global_steps * static_cast<double>(arm.learning.batch);
  const double held_out = positions * static_cast<double>(arm.learning.evaluations) *
                          static_cast<double>(arm.learning.task.held_out_examples);
  return world + parameters * (6 * examples + 2 * held_out) / kProxyFlopPerCpuSecond;
}

}  // namespace

base::Nanoseconds upsize_downtime(base::Nanoseconds state_time, base::Nanoseconds round_time,
                                  base::Nanoseconds cycle_time) {
  return std::max<base::Nanoseconds>(0, state_time + round_time - cycle_time);
}

ArmForecast forecast_arm(const Scenario& scenario, const Arm& arm) {
  const methods::TrainingOptions& training = arm.training;
  const auto fleet = methods::make_fleet(scenario.model, {}, scenario.network, scenario.islands,
                                         training, 0, scenario.seed);
  const auto& shape = fleet.shape;
  ArmForecast result{};
  result.name = training.name;
  result.learners = static_cast<std::int64_t>(shape.learners.size());
  const bool barriers = methods::meets_at_barriers(training.method);
  const bool data_parallel = training.method == MethodKind::kDataParallel;
  result.stalls =
      data_parallel || (barriers && training.late == methods::LatePolicy::kBlock);
  base::Nanoseconds fastest = base::kNever;
  for (const auto& learner : shape.learners) {
    base::Nanoseconds step = 0;
    for (const std::uint32_t slice : learner.slices) step = std::max(step, fleet.slice_step_time[slice]);
    result.step_time = std::max(result.step_time, step);
    fastest = std::min(fastest, step);
  }
  const LinkBytes bytes = bytes_per_step(scenario, training, fleet);
  double period_s = base::to_seconds(result.step_time);
  if (data_parallel) {
    result.stall_per_step = exposed_time(scenario, training, result.step_time);
  } else if (barriers) {
    const double sync = base::to_seconds(sync_time(scenario, training, fleet));
    const double late = std::max(0.0, sync - static_cast<double>(training.overlap_steps) * period_s);
    result.sync_time = base::from_seconds(sync);
    if (result.stalls) {
      result.stall_per_step = base::from_seconds(late * static_cast<double>(training.fragments) /
                                                 static_cast<double>(training.sync_every));
    }
  }
  period_s += base::to_seconds(result.stall_per_step);
  if (!data_parallel) {
    result.cycle_time = (result.step_time + result.stall_per_step) * training.sync_every;
  }
  forecast_join(scenario, training, result);
  // The syncer's pace is that of its fastest learner; data parallel has the pace that it has.
  const double pace_s = data_parallel || barriers ? period_s : base::to_seconds(fastest);
  for (const auto& [ends, volume] : bytes) {
    const double available = find_link(scenario.network, ends.first, ends.second)->bytes_per_s;
    const double needed = volume / pace_s;
    result.links.push_back({ends.first, ends.second, needed, available,
                            needed > 0 ? available / needed : std::numeric_limits<double>::infinity()});
  }
  const double global_steps = steps_to_last_mark(scenario, period_s);
  result.learner_steps = global_steps * static_cast<double>(result.learners);
  result.cpu_s = cpu_seconds(arm, global_steps, result.learner_steps);
  return result;
}

std::vector<ArmForecast> forecast(const Scenario& scenario) {
  std::vector<ArmForecast> result;
  for (const Arm& arm : scenario.arms) result.push_back(forecast_arm(scenario, arm));
  return result;
}

std::vector<base::Diagnostic> forecast_warnings(const Scenario& scenario, const std::string& file) {
  constexpr base::Nanoseconds kFewSteps = 100;
  std::vector<base::Diagnostic> warnings;
  for (const ArmForecast& arm : forecast(scenario)) {
    const base::Nanoseconds period = arm.step_time + arm.stall_per_step;
    if (period <= scenario.marks.time / kFewSteps || scenario.marks.time == 0) continue;
    const double steps = base::to_seconds(scenario.marks.time) / base::to_seconds(period);
    warnings.push_back(
        {file, {}, "marks.time",
         fmt::format("arm \"{}\" needs {:.4g} s for a step: about {:.0f} steps only; got \"{}\"", arm.name,
                     base::to_seconds(period), std::floor(steps),
                     base::format_duration(scenario.marks.time)),
         arm.stall_per_step > arm.step_time ? "a later mark, or links of more bandwidth"
                                            : "a later mark, or a smaller model.batch_tokens",
         base::Severity::kWarning});
  }
  return warnings;
}

std::string forecast_text(const Scenario& scenario) {
  std::string text;
  for (const ArmForecast& arm : forecast(scenario)) {
    text += fmt::format("{}\n  learners {}, step {:.3f} s", arm.name, arm.learners,
                        base::to_seconds(arm.step_time));
    if (arm.stalls) text += fmt::format(", waits {:.3f} s for links", base::to_seconds(arm.stall_per_step));
    text += "\n";
    if (arm.sync_time > 0) {
      text += fmt::format("  a sync takes {:.3f} s on the slowest link, a round of H steps {:.1f} s\n",
                          base::to_seconds(arm.sync_time),
                          base::to_seconds(arm.cycle_time));
    }
    for (const LinkForecast& link : arm.links) {
      text += fmt::format("  {} - {}: needs {:.3f} of {:.3f} Gbit/s, margin {:.2f}\n", link.region_a,
                          link.region_b, link.needed_bytes_per_s * 8e-9,
                          link.available_bytes_per_s * 8e-9, link.margin);
    }
    if (arm.recovery_time > 0) {
      text += fmt::format("  H steps take {:.1f} s; a learner's state takes {:.1f} s over the slowest link\n",
                          base::to_seconds(arm.cycle_time), base::to_seconds(arm.recovery_time));
    }
    if (!arm.links.empty() || arm.recovery_time > 0) {
      text += fmt::format("  a join over the links: {:.1f} s of downtime (paper, figure 12)\n",
                          base::to_seconds(arm.upsize_downtime));
    }
    text += fmt::format("  about {:.0f} learner steps, {:.1f} s of processor time (assumed {:.0e} FLOP/s)\n",
                        arm.learner_steps, arm.cpu_s, kProxyFlopPerCpuSecond);
  }
  return text;
}

}  // namespace sim::scenario

// sim/scenario/forecast_text.cpp: a forecast as lines for people.
#include <fmt/format.h>

#include <stdexcept>

#include "sim/scenario/cpu_forecast.h"
#include "sim/scenario/forecast.h"

namespace sim::scenario {
namespace {

using base::to_seconds;

std::string links_text(const ArmForecast& arm) {
  std::string text;
  for (const LinkForecast& link : arm.links) {
    text += fmt::format("  {} - {}: needs {:.3f} of {:.3f} Gbit/s, margin {:.2f}\n", link.region_a,
                        link.region_b, link.needed_bytes_per_s * 8e-9, link.available_bytes_per_s * 8e-9,
                        link.margin);
  }
  return text;
}

std::string merges_text(const Arm& arm, const ArmForecast& forecast) {
  const MergeForecast& merges = forecast.merges;
  const char* const about = merges.about ? "about " : "";
  std::string text;
  if (arm.training.method != methods::MethodKind::kDataParallel && merges.merges < 0.5) {
    text += "  no fragment merges up to the mark\n";
  } else if (arm.training.method == methods::MethodKind::kDecoupledDiloco) {
    text += fmt::format("  merges: participation {}{:.3f}, {:.3f} of those due made, {:.3f} in time; {:.3f} "
                        "of one contributor\n",
                        about, merges.participation, merges.made, merges.in_time, merges.lone);
    text += fmt::format("  a sync takes {:.3f} s (folding {:.3f} s) of the {:.3f} s of overlap_steps = {}; "
                        "grace {:.3f} s\n",
                        to_seconds(merges.sync_time), to_seconds(merges.fold_time),
                        static_cast<double>(arm.training.overlap_steps) *
                            to_seconds(forecast.step_time + forecast.exchange_per_step),
                        arm.training.overlap_steps, to_seconds(merges.grace_time));
  } else if (arm.training.method != methods::MethodKind::kDataParallel) {
    text += fmt::format("  merges: participation {}{:.3f}, {:.3f} of those due made, {:.3f} in time\n", about,
                        merges.participation, merges.made, merges.in_time);
  }
  return text + fmt::format("  tokens merged {}{:.3f} of native; overwritten {:.3f}, discarded {:.3f}, "
                            "chips wait {:.3f} of the time (healthy)\n",
                            about, merges.token, merges.overwritten, merges.discarded, merges.waiting);
}

std::string arm_text(const Arm& arm, const ArmForecast& forecast) {
  std::string text =
      fmt::format("  learners {}, step {:.3f} s", forecast.learners, to_seconds(forecast.step_time));
  if (forecast.stalls) text += fmt::format(", waits {:.3f} s for links", to_seconds(forecast.stall_per_step));
  if (forecast.exchange_per_step > 0) {
    text += fmt::format(", {:.3f} s among its slices", to_seconds(forecast.exchange_per_step));
  }
  text += "\n" + merges_text(arm, forecast);
  if (forecast.sync_time > 0) {
    text += fmt::format("  a sync takes {:.3f} s on the slowest link, a round of H steps {:.1f} s\n",
                        to_seconds(forecast.sync_time), to_seconds(forecast.cycle_time));
  }
  text += links_text(forecast);
  if (forecast.recovery_time > 0) {
    text += fmt::format("  H steps take {:.1f} s; a learner's state takes {:.1f} s over the slowest link\n",
                        to_seconds(forecast.cycle_time), to_seconds(forecast.recovery_time));
  }
  if (!forecast.links.empty() || forecast.recovery_time > 0) {
    text += fmt::format("  a join over the links: {:.1f} s of downtime (paper, figure 12)\n",
                        to_seconds(forecast.upsize_downtime));
  }
  const CpuRate rate = cpu_rate(arm.learning.model.kind);
  return text + fmt::format("  about {:.0f} learner steps, {:.1f} s of processor time ({})\n",
                            forecast.learner_steps, forecast.cpu_s,
                            rate.flop_per_s > 0
                                ? fmt::format("{:.0e} FLOP/s {}", rate.flop_per_s, rate.certainty)
                                : std::string(rate.certainty));
}

}  // namespace

std::string forecast_text(const Scenario& scenario) {
  NominalPlans plans(scenario.network);
  return forecast_text(scenario, plans);
}

std::string forecast_text(const Scenario& scenario, NominalPlans& plans) {
  std::string text;
  for (const Arm& arm : scenario.arms) {
    text += arm.training.name + "\n";
    try {
      text += arm_text(arm, forecast_arm(scenario, arm, plans));
    } catch (const std::invalid_argument& reason) {
      text += fmt::format("  no forecast: {}\n", reason.what());
    }
  }
  return text;
}

}  // namespace sim::scenario

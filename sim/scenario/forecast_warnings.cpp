// sim/scenario/forecast_warnings.cpp: what a run would show, told before it with the key that mends it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "sim/base/units.h"
#include "sim/scenario/chip_memory.h"
#include "sim/scenario/forecast.h"

namespace sim::scenario {
namespace {

using base::Diagnostic;
using base::to_seconds;
using methods::MethodKind;

// Assumed: what a reader would want to know before paying for it.
constexpr base::Nanoseconds kFewSteps = 100;
constexpr double kUnequalSteps = 1.1;      // slowest over fastest
constexpr double kGoodShare = 0.95;        // of merges made, of learners in them
constexpr double kLateShare = 0.1;         // of due merges late, of merges with one contributor
constexpr double kExposedShare = 0.01;     // of a step, waiting for a sync
constexpr std::int64_t kChipsOfHosts = 16; // a slice of more is no single host's

struct Subject {
  const Scenario& scenario;
  const std::string& file;
  const Arm& arm;
  const ArmForecast& forecast;
  NominalPlans& plans;

  Diagnostic warning(const std::string& key, std::string message, std::string hint) const {
    return {file, {}, key, fmt::format("arm \"{}\" {}", arm.training.name, message), std::move(hint),
            base::Severity::kWarning};
  }
};

base::Nanoseconds step_of(const Subject& s) {
  return s.forecast.step_time + s.forecast.exchange_per_step;
}

// The same arm with something changed, and what that gives; nothing where it cannot be.
template <class Change>
std::optional<MergeForecast> tried(const Subject& s, Change change) {
  Arm arm = s.arm;
  change(arm.training);
  try {
    return forecast_arm(s.scenario, arm, s.plans).merges;
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
}

std::string gives(const MergeForecast& merges) {
  return fmt::format("participation about {:.2f}, tokens {:.2f} of native", merges.participation,
                     merges.token);
}

bool is_good(const MergeForecast& merges) {
  return merges.participation >= kGoodShare && merges.made >= kGoodShare &&
         merges.in_time >= 1 - kLateShare;
}

void warn_of_few_steps(const Subject& s, std::vector<Diagnostic>& warnings) {
  const base::Nanoseconds period = step_of(s) + s.forecast.stall_per_step;
  const base::Nanoseconds mark = s.scenario.marks.time;
  if (period <= mark / kFewSteps || mark == 0) return;
  const double steps = to_seconds(mark) / to_seconds(period);
  warnings.push_back(s.warning("marks.time",
                               fmt::format("needs {:.4g} s for a step: about {:.0f} steps only; got \"{}\"",
                                           to_seconds(period), std::floor(steps),
                                           base::format_duration(mark)),
                               s.forecast.stall_per_step > s.forecast.step_time
                                   ? "a later mark, or links of more bandwidth"
                                   : "a later mark, or a smaller model.batch_tokens"));
}

// Whether it warned, and by-speed alone would mend the arm.
bool warn_of_unequal_steps(const Subject& s, std::vector<Diagnostic>& warnings) {
  const auto [fastest, slowest] = slice_step_range(s.scenario, s.arm);
  if (s.arm.training.batch_split == methods::BatchSplit::kBySpeed ||
      slowest <= kUnequalSteps * fastest) {
    return false;
  }
  const auto by_speed = tried(
      s, [](auto& training) { training.batch_split = methods::BatchSplit::kBySpeed; });
  if (!by_speed || by_speed->token <= s.forecast.merges.token) return false;
  warnings.push_back(s.warning(
      "training.split",
      fmt::format("has steps of {:.3g} s and {:.3g} s side by side: tokens about {:.2f} of native",
                  fastest, slowest, s.forecast.merges.token),
      fmt::format("split = \"by-speed\" gives each what it can do: tokens about {:.2f}", by_speed->token)));
  return is_good(*by_speed);
}

// The key that mends merges that come late or alone: the least that does, tried by forecast.
std::string mending_key(const Subject& s) {
  const OverlapFit fit = fitting_overlap(s.scenario, s.arm, s.plans);
  if (fit.fits && fit.overlap_steps > s.arm.training.overlap_steps) {
    const auto longer = tried(s, [&](auto& t) { t.overlap_steps = fit.overlap_steps; });
    if (longer && is_good(*longer)) {
      return fmt::format("overlap_steps = {} gives {} (\"fit\" finds it)", fit.overlap_steps,
                         gives(*longer));
    }
  }
  const std::int64_t all = s.forecast.learners;
  const auto waits = tried(s, [all](auto& t) { t.quorum = all; });
  if (waits && is_good(*waits)) return fmt::format("quorum = {} gives {}", all, gives(*waits));
  return "a larger sync_every, a narrower wire, or links of more bandwidth";
}

// The longest sync and the grace for learners of any phase do not fit, where phases drift apart.
void warn_of_tight_overlap(const Subject& s, std::vector<Diagnostic>& warnings) {
  const OverlapFit fit = fitting_overlap(s.scenario, s.arm, s.plans);
  if (!s.forecast.merges.about || fit.overlap_steps <= s.arm.training.overlap_steps) return;
  warnings.push_back(s.warning(
      "training.overlap_steps",
      fmt::format("needs {:.1f} steps for its longest sync and for the grace that learners out of phase need; "
                  "got {}",
                  fit.needed_steps, s.arm.training.overlap_steps),
      mending_key(s)));
}

void warn_of_merges(const Subject& s, std::vector<Diagnostic>& warnings) {
  const MergeForecast& merges = s.forecast.merges;
  if (merges.merges < 0.5) return;
  const bool alone = s.forecast.learners > 1 && (merges.lone > kLateShare || merges.participation < kGoodShare);
  const bool late = merges.in_time < 1 - kLateShare;
  if (!alone && !late) return warn_of_tight_overlap(s, warnings);
  const double overlap_s =
      static_cast<double>(s.arm.training.overlap_steps) * to_seconds(step_of(s));
  warnings.push_back(s.warning(
      "training.overlap_steps",
      fmt::format("has about {:.2f} of its learners in a merge ({:.2f} of merges have one), {:.2f} of due "
                  "merges in time, tokens about {:.2f} of native: a sync takes {:.3g} s of {:.3g} s, which "
                  "leaves {:.3g} s of grace; got {}",
                  merges.participation, merges.lone, merges.in_time, merges.token,
                  to_seconds(merges.sync_time), overlap_s, to_seconds(merges.grace_time),
                  s.arm.training.overlap_steps),
      mending_key(s)));
}

void warn_of_folding(const Subject& s, std::vector<Diagnostic>& warnings) {
  const double fold_s = to_seconds(s.forecast.merges.fold_time);
  const double step_s = to_seconds(step_of(s));
  const double overlap_s = static_cast<double>(s.arm.training.overlap_steps) * step_s;
  if (fold_s <= overlap_s) return;
  const double rate = s.arm.training.syncer.merge_bytes_per_s * fold_s / std::max(step_s, overlap_s);
  warnings.push_back(
      s.warning("training.syncer.merge_rate",
                fmt::format("folds its largest fragment in {:.3g} s, overlap_steps are {:.3g} s: {:.2f} of due "
                            "merges are made; got {:.3g} GB/s",
                            fold_s, overlap_s, s.forecast.merges.made,
                            s.arm.training.syncer.merge_bytes_per_s * 1e-9),
                fmt::format("more than {:.2g} GB/s, smaller fragments, or a larger overlap_steps",
                            rate * 1e-9)));
}

void warn_of_held_up(const Subject& s, std::vector<Diagnostic>& warnings) {
  const MergeForecast& merges = s.forecast.merges;
  const double step_s = to_seconds(step_of(s));
  const bool waits = to_seconds(s.forecast.stall_per_step) > kExposedShare * step_s;
  const bool late = merges.merges >= 0.5 && merges.in_time < 1 - kLateShare;
  if (!waits && !late) return;
  const OverlapFit fit = fitting_overlap(s.scenario, s.arm, s.plans);
  std::string hint = "a larger sync_every, a narrower wire, or links of more bandwidth";
  if (fit.fits && fit.overlap_steps > s.arm.training.overlap_steps) {
    const auto longer = tried(s, [&](auto& t) { t.overlap_steps = fit.overlap_steps; });
    if (longer) {
      hint = fmt::format("overlap_steps = {} hides it: tokens about {:.2f} of native (\"fit\" finds it)",
                         fit.overlap_steps, longer->token);
    }
  }
  warnings.push_back(s.warning(
      "training.overlap_steps",
      fmt::format("has syncs of {:.3g} s, longer than the {:.3g} s of overlap_steps: {}; got {}",
                  to_seconds(merges.sync_time),
                  static_cast<double>(s.arm.training.overlap_steps) * step_s,
                  waits ? fmt::format("learners wait {:.3g} s a step of {:.3g} s",
                                      to_seconds(s.forecast.stall_per_step), step_s)
                        : std::string("no merge is there in time"),
                  s.arm.training.overlap_steps),
      hint));
}

void warn_of_period(const Subject& s, std::vector<Diagnostic>& warnings) {
  const double period_s =
      static_cast<double>(s.arm.training.sync_every) * to_seconds(step_of(s));
  const double sync_s = to_seconds(s.forecast.merges.sync_time);
  if (sync_s <= period_s) return;
  warnings.push_back(s.warning(
      "training.sync_every",
      fmt::format("has syncs of {:.3g} s, longer than the {:.3g} s after which a fragment is due again; got {}",
                  sync_s, period_s, s.arm.training.sync_every),
      "a larger sync_every, a narrower wire, or links of more bandwidth"));
}

// One chip's failure takes its whole slice: with one slice the island stands still.
void warn_of_whole_islands(const Subject& s, std::vector<Diagnostic>& warnings) {
  const bool chips_fail =
      std::ranges::any_of(s.arm.failures, [](const auto& failure) {
        return failure.target == tape::TargetKind::kChip;
      }) ||
      std::ranges::any_of(s.arm.faults, [](const auto& fault) {
        return fault.target_kind == tape::TargetKind::kChip;
      });
  if (!s.arm.training.elasticity.elastic || !chips_fail) return;
  for (std::size_t i = 0; i < s.scenario.islands.size(); ++i) {
    const auto& island = s.scenario.islands[i];
    if (island.slices != 1 || island.chips <= kChipsOfHosts) continue;
    warnings.push_back(s.warning(
        fmt::format("island[{}].slices", i),
        fmt::format("is elastic, and \"{}\" is one slice: one failing chip stops all {} of it; got 1",
                    island.name, island.chips),
        "slices = the number of parts that can go on without each other"));
  }
}

// Where chips are meant, loading has refused it.
void warn_of_memory(const Scenario& scenario, const std::string& file, std::vector<Diagnostic>& warnings) {
  for (const MemoryMisfit& misfit : memory_misfits(scenario)) {
    if (misfit.chips_are_meant) continue;
    warnings.push_back({file, {}, fmt::format("island[{}].chips", misfit.island),
                        "cannot hold the model (not refused: every arm gives its step_time); " +
                            misfit.message,
                        std::string(kMemoryHint), base::Severity::kWarning});
  }
}

void warn_of_arm(const Subject& s, std::vector<Diagnostic>& warnings) {
  warn_of_few_steps(s, warnings);
  const bool mended = warn_of_unequal_steps(s, warnings);
  if (s.arm.training.method == MethodKind::kDecoupledDiloco) {
    if (!mended) warn_of_merges(s, warnings);
    warn_of_folding(s, warnings);
  }
  if (s.arm.training.method == MethodKind::kStreamingDiloco) warn_of_held_up(s, warnings);
  if (s.arm.training.method != MethodKind::kDataParallel) warn_of_period(s, warnings);
  warn_of_whole_islands(s, warnings);
}

}  // namespace

std::vector<Diagnostic> forecast_warnings(const Scenario& scenario, const std::string& file) {
  NominalPlans plans(scenario.network);
  return forecast_warnings(scenario, file, plans);
}

std::vector<Diagnostic> forecast_warnings(const Scenario& scenario, const std::string& file,
                                          NominalPlans& plans) {
  std::vector<Diagnostic> warnings;
  warn_of_memory(scenario, file, warnings);
  for (const Arm& arm : scenario.arms) {
    try {
      const ArmForecast forecast = forecast_arm(scenario, arm, plans);
      warn_of_arm({scenario, file, arm, forecast, plans}, warnings);
    } catch (const std::invalid_argument&) {
      // Regions that cannot talk are an error of its own, told where the scenario is loaded.
    }
  }
  return warnings;
}

}  // namespace sim::scenario

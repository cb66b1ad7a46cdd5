// sim/scenario/merge_forecast.cpp: see merge_forecast.h.
#include "sim/scenario/merge_forecast.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "sim/engine/collectives.h"
#include "sim/engine/network_view.h"
#include "sim/methods/fragment_traffic.h"
#include "sim/scenario/step_forecast.h"
#include "sim/scenario/syncer_play.h"

namespace sim::scenario {
namespace {

using engine::NetworkModel;
using methods::LatePolicy;
using methods::MethodKind;
using methods::TrainingOptions;

// One learner's step, over and over, on the same fabric.
constexpr std::int64_t kMostLearnersPlayed = 64;
constexpr std::int64_t kStepsPlayed = 200'000;      // of all learners together
constexpr std::int64_t kMostStepsPlayed = 2'000'000;  // where H asks for more
constexpr std::int64_t kRoundsPlayed = 6;

bool is_central(const TrainingOptions& training) {
  return training.syncer.placement == methods::SyncerPlacement::kCentral;
}

double horizon_s(const Scenario& scenario, const methods::Fleet& fleet) {
  const double limit = base::to_seconds(scenario.marks.limit);
  const double by_tokens = scenario.marks.tokens / fleet.shape.native_tokens_per_s;
  const double time = base::to_seconds(scenario.marks.time);
  return std::min(limit, time > 0 ? time : by_tokens > 0 ? by_tokens : limit);
}

double tokens_of(const methods::Fleet& fleet, const tape::LearnerShape& learner) {
  double tokens = 0;
  for (const std::uint32_t slice : learner.slices) {
    tokens += static_cast<double>(fleet.shape.slices[slice].tokens);
  }
  return tokens;
}

// Of chip-time in use, what is not computing where learner m's step takes period_s[m].
double waiting_share(const methods::Fleet& fleet, const std::vector<double>& period_s) {
  double computing = 0, all = 0;
  for (std::size_t m = 0; m < period_s.size(); ++m) {
    for (const std::uint32_t slice : fleet.shape.learners[m].slices) {
      const auto chips = static_cast<double>(fleet.shape.slices[slice].chips);
      computing += chips * base::to_seconds(fleet.slice_step_time[slice]) / period_s[m];
      all += chips;
    }
  }
  return std::max(0.0, 1 - computing / all);
}

std::map<std::uint16_t, std::size_t> learners_by_region(const methods::Fleet& fleet) {
  std::map<std::uint16_t, std::size_t> count;
  for (const auto& learner : fleet.shape.learners) ++count[learner.region];
  return count;
}

base::Nanoseconds local_reduce(const Scenario& scenario, const methods::Fleet& fleet,
                               std::int64_t bytes) {
  base::Nanoseconds longest = 0;
  for (const auto& [region, here] : learners_by_region(fleet)) {
    longest = std::max(longest, engine::local_all_reduce(scenario.network.regions[region], here, bytes));
  }
  return longest;
}

// Hosts and shards lie on the fabric of their region.
base::Nanoseconds over_fabric(const engine::RegionOptions& region, double bytes) {
  return region.fabric_latency + base::from_seconds(bytes / region.fabric_bytes_per_s);
}

double value_bytes(const Scenario& scenario, const methods::Fleet& fleet, std::size_t fragment) {
  return static_cast<double>(fleet.shape.fragment_parameters[fragment]) *
         scenario.model.syncer_state_bytes / 2;
}

std::int64_t wire_bytes_of(const Arm& arm, const methods::Fleet& fleet, std::size_t fragment) {
  return methods::wire_bytes(fleet.shape.fragment_parameters[fragment], arm.training.wire);
}

// Bytes/s of the way that a learner's region has to the central syncer, which all of that region share.
double rate_to_center(const Scenario& scenario, const Arm& arm, std::uint16_t region) {
  const std::uint16_t center = engine::region_index(scenario.network, arm.training.syncer.region);
  if (region == center) return scenario.network.regions[region].fabric_bytes_per_s;
  return engine::PathFinder(engine::nominal_view(scenario.network)).usual(region, center).bytes_per_s;
}

// Every learner's fragment to the one syncer: links and its NIC are shared, and it folds them all.
SyncParts central_parts(const Scenario& scenario, const Arm& arm, const methods::Fleet& fleet,
                        double bytes) {
  const auto& syncer = arm.training.syncer;
  const std::uint16_t center = engine::region_index(scenario.network, syncer.region);
  const auto learners = static_cast<double>(fleet.shape.learners.size());
  SyncParts parts{};
  parts.wide = base::from_seconds(learners * bytes / syncer.nic_bytes_per_s);
  for (const auto& [region, here] : learners_by_region(fleet)) {
    parts.before = std::max(parts.before, one_way_delay(scenario.network, region, center));
    const double passing = region == center ? 1 : static_cast<double>(here);
    parts.wide = std::max(parts.wide, base::from_seconds(passing * bytes /
                                                         rate_to_center(scenario, arm, region)));
  }
  parts.after = base::from_seconds(learners * bytes / syncer.merge_bytes_per_s);
  return parts;
}

// In the parameters' own format, from the shard beside the learner or from the one syncer.
base::Nanoseconds push_time(const Scenario& scenario, const Arm& arm, const methods::Fleet& fleet,
                            const tape::LearnerShape& learner, std::size_t fragment) {
  if (scenario.network.model == NetworkModel::kNone) return 0;
  const double bytes = value_bytes(scenario, fleet, fragment);
  if (!is_central(arm.training)) return over_fabric(scenario.network.regions[learner.region], bytes);
  const std::uint16_t center = engine::region_index(scenario.network, arm.training.syncer.region);
  const auto passing = static_cast<double>(learners_by_region(fleet).at(learner.region));
  const double shared = rate_to_center(scenario, arm, learner.region) /
                        (learner.region == center ? 1 : passing);
  const double nic = arm.training.syncer.nic_bytes_per_s / static_cast<double>(fleet.shape.learners.size());
  return one_way_delay(scenario.network, center, learner.region) +
         base::from_seconds(bytes / std::min(shared, nic));
}

// Learners whose gradients cross the links that the syncs need.
bool shares_links(const Scenario& scenario, const Arm& arm, const methods::Fleet& fleet,
                  NominalPlans& plans) {
  return std::ranges::any_of(fleet.shape.learners, [&](const auto& learner) {
    return learner_step(scenario, arm.training, fleet, learner, plans).is_wide;
  });
}

// Learners that share no date: those that were stopped, and those whose steps are drawn.
bool out_of_phase(const Scenario& scenario, const Arm& arm) {
  return !arm.failures.empty() || !arm.faults.empty() || scenario.spread.step_sd > 0;
}

// Spread evenly whatever their number: the golden section's multiples.
double phase_share(std::size_t learner) {
  constexpr double kGolden = 0.6180339887498949;
  const double turns = kGolden * static_cast<double>(learner);
  return turns - std::floor(turns);
}

// Every so many-th learner where there are more than are played.
std::vector<std::size_t> played_learners(const methods::Fleet& fleet) {
  const std::size_t all = fleet.shape.learners.size();
  const auto most = std::min<std::size_t>(all, kMostLearnersPlayed);
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < most; ++i) chosen.push_back(i * all / most);
  return chosen;
}

SyncerPlay play_of(const Scenario& scenario, const Arm& arm, const methods::Fleet& fleet,
                   const WideReduce& wide, const std::vector<std::size_t>& chosen, NominalPlans& plans) {
  const std::vector<double> steps = learner_steps_s(scenario, arm.training, fleet, plans);
  SyncerPlay play{};
  const std::uint16_t lead = is_central(arm.training)
                                 ? engine::region_index(scenario.network, arm.training.syncer.region)
                                 : fleet.shape.learners.front().region;
  for (const std::size_t m : chosen) {
    const auto& learner = fleet.shape.learners[m];
    PlayedLearner played{};
    played.step = std::max<base::Nanoseconds>(1, base::from_seconds(steps[m]));
    played.tokens = tokens_of(fleet, learner);
    played.report = one_way_delay(scenario.network, learner.region, lead);
    if (out_of_phase(scenario, arm)) played.phase = base::from_seconds(steps[m] * phase_share(m));
    played.phase = std::min(played.phase, played.step - 1);
    for (std::size_t p = 0; p < fleet.shape.fragment_parameters.size(); ++p) {
      played.push.push_back(push_time(scenario, arm, fleet, learner, p));
    }
    play.learners.push_back(std::move(played));
  }
  for (std::size_t p = 0; p < fleet.shape.fragment_parameters.size(); ++p) {
    const SyncParts parts = sync_parts(scenario, arm, fleet, wide, p);
    play.fragments.push_back({static_cast<double>(fleet.shape.fragment_parameters[p]) /
                                  static_cast<double>(scenario.model.parameters),
                              parts.before, parts.wide, parts.after});
  }
  return play;
}

MergeForecast decoupled(const Scenario& scenario, const Arm& arm, const methods::Fleet& fleet,
                        const WideReduce& wide, NominalPlans& plans) {
  const std::size_t learners = fleet.shape.learners.size();
  const std::vector<std::size_t> chosen = played_learners(fleet);
  const auto played = static_cast<double>(chosen.size());
  TrainingOptions training = arm.training;
  training.quorum = std::clamp<std::int64_t>(
      std::llround(static_cast<double>(training.quorum) * played / static_cast<double>(learners)), 1,
      static_cast<std::int64_t>(chosen.size()));
  SyncerPlay play = play_of(scenario, arm, fleet, wide, chosen, plans);
  play.training = &training;
  const double until_s = horizon_s(scenario, fleet);
  play.until = base::from_seconds(until_s);
  const auto count = static_cast<std::int64_t>(chosen.size());
  const std::int64_t rounds =
      training.sync_every > kMostStepsPlayed ? kMostStepsPlayed : kRoundsPlayed * training.sync_every * count;
  play.most_steps = std::clamp(rounds, kStepsPlayed, kMostStepsPlayed);
  const SyncerCounts counts = play_syncer(play);

  double tokens = 0, all_tokens = 0;
  for (const PlayedLearner& learner : play.learners) tokens += learner.tokens;
  for (const auto& learner : fleet.shape.learners) all_tokens += tokens_of(fleet, learner);
  const double native = fleet.shape.native_tokens_per_s * until_s * tokens / all_tokens;
  MergeForecast result;
  result.token = counts.merged / native;
  result.overwritten = counts.overwritten / native;
  result.discarded = counts.discarded / native;
  result.waiting = waiting_share(fleet, learner_steps_s(scenario, arm.training, fleet, plans));
  result.about = out_of_phase(scenario, arm) || chosen.size() < learners ||
                 shares_links(scenario, arm, fleet, plans);
  result.grace_time = base::from_seconds(counts.grace_s / std::max(1.0, counts.graces));
  result.merges = counts.merges;
  if (counts.due > 0) result.made = counts.merges / counts.due;
  if (counts.due > 0) result.in_time = counts.in_time / counts.due;
  if (counts.merges == 0) return result;
  result.participation = counts.contributions / counts.merges / played;
  result.lone = counts.lone / counts.merges;
  result.sync_time = base::from_seconds(counts.sync_s / counts.merges);
  return result;
}

// Learners that meet at barriers: a round of H steps at the pace of the slowest, with what its syncs hold
// it up.
struct Round {
  double step_s, period_s;           // compute, and with its share of the waiting
  std::vector<double> sync_s;        // of each fragment, (P)
};

Round round_of(const Scenario& scenario, const Arm& arm, const methods::Fleet& fleet,
               const WideReduce& wide, NominalPlans& plans) {
  const TrainingOptions& training = arm.training;
  const std::vector<double> steps = learner_steps_s(scenario, arm.training, fleet, plans);
  Round round{*std::ranges::max_element(steps), 0, {}};
  const auto period = static_cast<double>(training.sync_every);
  double held_s = 0, links_s = 0;
  for (std::size_t p = 0; p < fleet.shape.fragment_parameters.size(); ++p) {
    const SyncParts parts = sync_parts(scenario, arm, fleet, wide, p);
    round.sync_s.push_back(base::to_seconds(parts.total()));
    held_s += std::max(0.0, round.sync_s.back() -
                                static_cast<double>(training.overlap_steps) * round.step_s);
    links_s += base::to_seconds(parts.wide);
  }
  const bool blocks = training.late == LatePolicy::kBlock;
  // Fragments whose syncs overlap share the links: a round is never shorter than all of them.
  const double round_s = blocks ? std::max(period * round.step_s + held_s, links_s) : period * round.step_s;
  round.period_s = round_s / period;
  return round;
}

// The step, modulo H, at which each fragment is taken; 0 stands for H, as there is no step 0.
std::vector<double> first_takes(const TrainingOptions& training, std::size_t fragments) {
  const auto period = static_cast<double>(training.sync_every);
  std::vector<double> first;
  for (std::size_t p = 0; p < fragments; ++p) {
    const double offset =
        std::floor(static_cast<double>(p) * period / static_cast<double>(training.fragments));
    const double step = std::fmod(static_cast<double>(training.first_take) + offset, period);
    first.push_back(step == 0 ? period : step);
  }
  return first;
}

// Steps from a take to its adoption: what is done in them is overwritten, but for what mixing keeps.
double adoption_lag(const TrainingOptions& training, double sync_s, double step_s) {
  const auto tau = static_cast<double>(training.overlap_steps);
  if (sync_s <= tau * step_s || training.late == LatePolicy::kBlock) return tau;
  return training.late == LatePolicy::kSkip ? 0 : std::ceil(sync_s / step_s);
}

MergeForecast at_barriers(const Scenario& scenario, const Arm& arm, const methods::Fleet& fleet,
                          const WideReduce& wide, NominalPlans& plans) {
  const TrainingOptions& training = arm.training;
  const Round round = round_of(scenario, arm, fleet, wide, plans);
  const double until_s = horizon_s(scenario, fleet);
  const auto period = static_cast<double>(training.sync_every);
  const double round_s = period * round.period_s, held_s = round_s - period * round.step_s;
  double batch = 0;
  for (const auto& learner : fleet.shape.learners) batch += tokens_of(fleet, learner);
  MergeForecast result;
  double due = 0, sync_s = 0;
  const std::vector<double> first = first_takes(training, round.sync_s.size());
  for (std::size_t p = 0; p < first.size(); ++p) {
    const double weight = batch * static_cast<double>(fleet.shape.fragment_parameters[p]) /
                          static_cast<double>(scenario.model.parameters);
    // Before its first take others have held the learners up.
    const auto before = static_cast<double>(
        std::ranges::count_if(first, [&](double other) { return other < first[p]; }));
    const double first_s =
        first[p] * round.step_s + held_s * before / static_cast<double>(first.size());
    due += std::max(0.0, std::floor((until_s - first_s) / round_s) + 1);
    const double takes = std::floor((until_s - round.sync_s[p] - first_s) / round_s) + 1;
    if (takes < 1) continue;
    result.merges += takes;
    sync_s += takes * round.sync_s[p];
    const bool fits =
        round.sync_s[p] <= static_cast<double>(training.overlap_steps) * round.step_s;
    result.in_time += fits ? takes : 0;
    const double lost = (1 - training.mixing) * (takes - 1) *
                        adoption_lag(training, round.sync_s[p], round.step_s);
    result.token += weight * (first[p] + period * (takes - 1) - lost);
    result.overwritten += weight * lost;
  }
  const double native = fleet.shape.native_tokens_per_s * until_s;
  result.token /= native;
  result.overwritten /= native;
  const std::vector<double> steps = learner_steps_s(scenario, arm.training, fleet, plans);
  result.waiting = waiting_share(fleet, std::vector<double>(steps.size(), round.period_s));
  result.about = scenario.spread.step_sd > 0 || shares_links(scenario, arm, fleet, plans) ||
                 (training.late != LatePolicy::kBlock &&
                  *std::ranges::min_element(steps) < 0.99 * round.step_s);
  if (result.merges == 0) return result;
  result.participation = 1;
  result.made = std::min(1.0, result.merges / due);
  result.in_time /= due;
  result.lone = steps.size() == 1;
  result.sync_time = base::from_seconds(sync_s / result.merges);
  return result;
}

MergeForecast data_parallel(const Scenario& scenario, const Arm& arm, const methods::Fleet& fleet,
                            NominalPlans& plans) {
  const double until_s = horizon_s(scenario, fleet);
  const double period_s = learner_steps_s(scenario, arm.training, fleet, plans).front();
  MergeForecast result;
  result.token = std::floor(until_s / period_s + 1e-9) *
                 tokens_of(fleet, fleet.shape.learners.front()) /
                 (fleet.shape.native_tokens_per_s * until_s);
  result.waiting = waiting_share(fleet, {period_s});
  result.about = scenario.spread.step_sd > 0;
  return result;
}

}  // namespace

SyncParts sync_parts(const Scenario& scenario, const Arm& arm, const methods::Fleet& fleet,
                     const WideReduce& wide, std::size_t fragment) {
  if (scenario.network.model == NetworkModel::kNone) return {};
  const std::int64_t bytes = wire_bytes_of(arm, fleet, fragment);
  const bool syncer = arm.training.method == MethodKind::kDecoupledDiloco;
  if (syncer && is_central(arm.training)) {
    return central_parts(scenario, arm, fleet, static_cast<double>(bytes));
  }
  SyncParts parts{};
  parts.before = local_reduce(scenario, fleet, bytes);
  parts.wide = base::from_seconds(static_cast<double>(bytes) * wide.s_per_byte);
  parts.after = wide.delay;
  if (!syncer) return parts;
  base::Nanoseconds pull = 0;
  for (const auto& learner : fleet.shape.learners) {
    pull = std::max(pull, over_fabric(scenario.network.regions[learner.region],
                                      value_bytes(scenario, fleet, fragment)));
  }
  parts.before +=
      pull + base::from_seconds(static_cast<double>(bytes) / arm.training.syncer.merge_bytes_per_s);
  return parts;
}

MergeForecast forecast_merges(const Scenario& scenario, const Arm& arm, const methods::Fleet& fleet,
                              const WideReduce& wide, NominalPlans& plans) {
  if (arm.training.method == MethodKind::kDataParallel) {
    return data_parallel(scenario, arm, fleet, plans);
  }
  if (methods::meets_at_barriers(arm.training.method)) {
    return at_barriers(scenario, arm, fleet, wide, plans);
  }
  MergeForecast result = decoupled(scenario, arm, fleet, wide, plans);
  const auto& sizes = fleet.shape.fragment_parameters;
  const auto largest = static_cast<std::size_t>(std::ranges::max_element(sizes) - sizes.begin());
  if (scenario.network.model != NetworkModel::kNone) {
    const double payloads =
        is_central(arm.training) ? static_cast<double>(fleet.shape.learners.size()) : 1;
    result.fold_time =
        base::from_seconds(payloads * static_cast<double>(wire_bytes_of(arm, fleet, largest)) /
                           arm.training.syncer.merge_bytes_per_s);
  }
  return result;
}

}  // namespace sim::scenario

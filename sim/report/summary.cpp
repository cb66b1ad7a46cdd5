// sim/report/summary.cpp: figures out of the ledgers.
#include "sim/report/summary.h"

#include <numeric>

namespace sim::report {
namespace {

constexpr double kJoulesPerKwh = 3.6e6;

std::optional<double> kwh(const std::optional<readers::Energy>& energy) {
  if (!energy) return std::nullopt;
  return energy->total / kJoulesPerKwh;
}

void fill_mark(MarkSummary& mark, const readers::Account& reached) {
  mark.at = reached.at;
  mark.tokens = reached.consumed_tokens;
  mark.merged_tokens = reached.merged_tokens;
  mark.energy_kwh = kwh(reached.energy);
  mark.energy_kwh_stall_low = kwh(reached.energy_stall_low);
  mark.energy_kwh_stall_high = kwh(reached.energy_stall_high);
  if (reached.cost) mark.cost_usd = reached.cost->total;
}

void fill_marks(Summary& summary, const readers::RunAccount& account) {
  for (MarkSummary& mark : summary.marks) {
    for (int kind = 0; kind < tape::kMarkKindCount; ++kind) {
      const auto& reached = account.at_mark(static_cast<tape::MarkKind>(kind));
      if (reached && mark.name == mark_name(static_cast<tape::MarkKind>(kind))) {
        fill_mark(mark, *reached);
      }
    }
  }
}

void fill_energy(Summary& summary, const readers::Account& account) {
  if (!account.energy) return;
  const readers::Energy& joules = *account.energy;
  EnergySummary& energy = summary.energy.emplace();
  energy = {.total = joules.total / kJoulesPerKwh,
            .stall_low = *kwh(account.energy_stall_low),
            .stall_high = *kwh(account.energy_stall_high),
            .busy = joules.busy / kJoulesPerKwh,
            .stalled = joules.stalled / kJoulesPerKwh,
            .idle = joules.idle / kJoulesPerKwh,
            .unused = joules.unused / kJoulesPerKwh,
            .off = joules.off / kJoulesPerKwh,
            .host = joules.host / kJoulesPerKwh,
            .wan = joules.wan / kJoulesPerKwh,
            .wasted = joules.wasted / kJoulesPerKwh,
            .joules_per_token = std::nullopt};
  if (account.merged_tokens > 0) {
    energy.joules_per_token = joules.total / static_cast<double>(account.merged_tokens);
  }
}

void fill_cost(Summary& summary, const readers::Account& account) {
  if (!account.cost) return;
  CostSummary& cost = summary.cost.emplace();
  cost = {account.cost->total, account.cost->chips, account.cost->egress, std::nullopt};
  if (account.merged_tokens > 0) {
    cost.per_billion_tokens = cost.total / (static_cast<double>(account.merged_tokens) / 1e9);
  }
}

void fill_nominal(NominalSummary& nominal, const tape::RunShape& shape) {
  nominal.batch_tokens = shape.batch_tokens;
  nominal.fragments = static_cast<std::int64_t>(shape.fragment_parameters.size());
  nominal.step_s = base::to_seconds(shape.nominal_step);
  nominal.native_tokens_per_s = shape.native_tokens_per_s;
  if (nominal.parameters == 0) {
    nominal.parameters = std::accumulate(shape.fragment_parameters.begin(),
                                         shape.fragment_parameters.end(), std::int64_t{0});
  }
}

}  // namespace

std::string_view mark_name(tape::MarkKind mark) {
  switch (mark) {
    case tape::MarkKind::kTime: return "time";
    case tape::MarkKind::kTokens: return "tokens";
    case tape::MarkKind::kEnergy: return "energy_kwh";
    case tape::MarkKind::kCost: return "cost_usd";
    case tape::MarkKind::kLoss: return "loss";
  }
  throw std::logic_error("a mark without a name");
}

void fill(Summary& summary, const tape::RunShape& shape, const readers::RunAccount& account) {
  if (!account.at_end()) throw std::logic_error("a summary of a run that has not ended");
  const readers::Account& end = *account.at_end();
  const readers::Account& timed = account.at_time_mark() ? *account.at_time_mark() : end;

  summary.chips = shape.chips;
  summary.learners = static_cast<std::int64_t>(shape.learners.size());
  summary.duration = end.at;
  summary.accounted_until = timed.at;
  fill_marks(summary, account);
  fill_energy(summary, timed);
  fill_cost(summary, timed);
  const readers::EnergyOptions& power = account.options().energy;
  summary.power = {power.stall, power.stall_low, power.stall_high, power.pue, shape.watts_assumed};
  summary.goodput = timed.goodput;
  for (int b = 0; b < readers::kBucketCount; ++b) {
    summary.activity_chip_seconds[static_cast<std::size_t>(b)] =
        readers::to_chip_seconds(timed.activity.buckets[static_cast<readers::Bucket>(b)]);
  }
  summary.wan = {timed.wan.bytes, timed.wan.mean_gbps, timed.wan.peak_gbps,
                 timed.wan.peak_window_s, std::nullopt};
  if (timed.merged_tokens > 0) summary.wan.bytes_per_token = timed.wan_bytes_per_token;
  if (end.syncs.merged > 0) {
    summary.participation = end.syncs.participation(shape.learners.size());
  }
  if (end.syncs.learner_steps > 0) summary.step_median = account.step_times().median();
  summary.steps = end.syncs.last_step;
  summary.learner_steps = end.syncs.learner_steps;
  summary.tokens = end.consumed_tokens;
  summary.merged_tokens = end.merged_tokens;
  summary.token_totals = end.tokens;
  summary.syncs = end.syncs;
  summary.faults_met = account.faults().met_count();
  summary.faults_met_scripted = account.faults().scripted_count();
  summary.faults_met_arm_relative = 0;
  for (const readers::MetFault& met : account.faults().faults()) {
    summary.faults_met_arm_relative += met.fault.arm_relative;
  }
  fill_nominal(summary.nominal, shape);
  summary.recoveries = account.properties().sometimes().new_lives;
  summary.recoveries_in_merges = account.properties().sometimes().merges_by_new_lives;
  summary.violation_count = account.properties().violation_count() +
                            account.clocks().violation_count() +
                            account.provenance().violation_count();
  summary.violations = account.properties().violations();
  for (const auto* more : {&account.clocks().violations(), &account.provenance().violations()}) {
    summary.violations.insert(summary.violations.end(), more->begin(), more->end());
  }
  summary.liveness = account.liveness().stalls();
  if (account.liveness().bound() < base::kNever) summary.liveness_bound = account.liveness().bound();
}

}  // namespace sim::report

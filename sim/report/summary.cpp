// sim/report/summary.cpp: figures out of the ledgers.
#include "sim/report/summary.h"

#include <numeric>

namespace sim::report {
namespace {

void fill_marks(Summary& summary, const readers::RunAccount& account) {
  for (MarkSummary& mark : summary.marks) {
    const auto& reached = mark.name == "time" ? account.at_time_mark() : account.at_token_mark();
    if (!reached) continue;
    mark.at = reached->at;
    mark.tokens = reached->unique_tokens;
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

void fill(Summary& summary, const tape::RunShape& shape, const readers::RunAccount& account) {
  if (!account.at_end()) throw std::logic_error("a summary of a run that has not ended");
  const readers::Account& end = *account.at_end();
  const readers::Account& timed = account.at_time_mark() ? *account.at_time_mark() : end;

  summary.chips = shape.chips;
  summary.learners = static_cast<std::int64_t>(shape.learners.size());
  summary.duration = end.at;
  summary.accounted_until = timed.at;
  fill_marks(summary, account);
  summary.goodput = timed.goodput;
  for (int b = 0; b < readers::kBucketCount; ++b) {
    summary.activity_chip_seconds[static_cast<std::size_t>(b)] =
        readers::to_chip_seconds(timed.activity.buckets[static_cast<readers::Bucket>(b)]);
  }
  summary.wan = {timed.wan.bytes, timed.wan.mean_gbps, timed.wan.peak_gbps,
                 timed.wan.peak_window_s, std::nullopt};
  if (timed.unique_tokens > 0) summary.wan.bytes_per_token = timed.wan_bytes_per_token;
  if (end.syncs.merged > 0) {
    summary.participation = end.syncs.participation(shape.learners.size());
  }
  if (end.syncs.learner_steps > 0) summary.step_median = account.step_times().median();
  summary.steps = end.syncs.last_step;
  summary.learner_steps = end.syncs.learner_steps;
  summary.tokens = end.unique_tokens;
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
  summary.violation_count =
      account.properties().violation_count() + account.clocks().violation_count();
  summary.violations = account.properties().violations();
  const auto& of_clocks = account.clocks().violations();
  summary.violations.insert(summary.violations.end(), of_clocks.begin(), of_clocks.end());
}

}  // namespace sim::report

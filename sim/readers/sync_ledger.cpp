// sim/readers/sync_ledger.cpp: see sync_ledger.h.
#include "sim/readers/sync_ledger.h"

#include <algorithm>
#include <numeric>

namespace sim::readers {

using tape::Kind;

std::string_view loss_reason_name(tape::LossReason reason) {
  static constexpr std::array<std::string_view, kLossReasonCount> kNames = {
      "learner_died",    "unreachable", "syncer_died", "merge_failed",
      "in_flight_limit", "no_quorum",   "donor_died",  "receiver_died"};
  return kNames.at(static_cast<std::size_t>(reason));
}

std::uint64_t SyncTotals::skipped_count() const {
  return std::accumulate(skipped.begin(), skipped.end(), std::uint64_t{0});
}

std::uint64_t SyncTotals::lost_count() const {
  return std::accumulate(lost.begin(), lost.end(), std::uint64_t{0});
}

double SyncTotals::participation(std::size_t learner_count) const {
  if (merged == 0 || learner_count == 0) return 0;
  return static_cast<double>(contributions) /
         (static_cast<double>(merged) * static_cast<double>(learner_count));
}

void SyncLedger::on(const tape::Fact& fact) {
  switch (fact.kind) {
    case Kind::kStepsDone: return on_steps(fact.steps_done);
    case Kind::kActivityChanged: return on_activity(fact.activity_changed);
    case Kind::kFragmentTaken: return on_taken(fact.fragment_taken);
    case Kind::kFragmentMerged: return on_merged(fact.fragment_merged);
    case Kind::kFragmentLost: return on_lost(fact.fragment_lost);
    case Kind::kFragmentSkipped: return on_skipped(fact.fragment_skipped);
    case Kind::kFragmentAdopted:
      totals_.late_adoptions += fact.fragment_adopted.lag_steps > overlap_steps_;
      return;
    default: return;
  }
}

SyncLedger::LastSync& SyncLedger::last_sync(std::uint16_t fragment) {
  if (fragment >= last_syncs_.size()) last_syncs_.resize(fragment + std::size_t{1});
  return last_syncs_[fragment];
}

void SyncLedger::on_steps(const tape::StepsDone& steps) {
  totals_.learner_steps += steps.count;
  totals_.last_step = std::max<std::uint64_t>(totals_.last_step, steps.first_step + steps.count - 1);
}

void SyncLedger::on_activity(const tape::ActivityChanged& change) {
  const bool waits = change.activity == tape::Activity::kWaitingForMerge;
  if (waits == waits_.at(change.learner)) return;
  waits_[change.learner] = waits;
  waiting_ += waits ? 1 : -std::size_t{1};
}

void SyncLedger::on_taken(const tape::FragmentTaken& taken) {
  LastSync& last = last_sync(taken.fragment);
  if (taken.sync != last.sync) {
    ++totals_.due;
    last = {taken.sync, taken.step, 0, false};
  }
  ++last.open_takes;
}

void SyncLedger::on_merged(const tape::FragmentMerged& merged) {
  LastSync& last = last_sync(merged.fragment);
  if (merged.sync == last.sync) {
    last.open_takes = 0;
    last.merged = true;
  }
  ++totals_.merged;
  totals_.in_time += merged.overrun == 0 && (overlap_steps_ == 0 || waiting_ == 0);
  totals_.lone += merged.contributor_count == 1 && waits_.size() > 1;
  totals_.contributions += merged.contributor_count;
  totals_.grace_overruns += merged.overrun > 0;
  totals_.rounds = std::max<std::uint64_t>(totals_.rounds, merged.step);
}

void SyncLedger::on_lost(const tape::FragmentLost& lost) {
  ++totals_.lost[static_cast<std::size_t>(lost.reason)];
  LastSync& last = last_sync(lost.fragment);
  if (lost.sync == last.sync && last.open_takes > 0) --last.open_takes;
}

void SyncLedger::on_skipped(const tape::FragmentSkipped& skipped) {
  ++totals_.skipped[static_cast<std::size_t>(skipped.reason)];
  // The others merged it: it was due with them.
  if (skipped.reason == tape::LossReason::kUnreachable) return;
  // A barrier whose takes were all lost is skipped afterwards; its due was counted at the take.
  const LastSync& last = last_sync(skipped.fragment);
  const bool was_taken = last.sync != UINT32_MAX && !last.merged && last.open_takes == 0 &&
                         last.step == skipped.step;
  if (!was_taken) ++totals_.due;
}

}  // namespace sim::readers

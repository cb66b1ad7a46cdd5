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
    case Kind::kStepsDone: {
      const tape::StepsDone& steps = fact.steps_done;
      totals_.learner_steps += steps.count;
      totals_.last_step =
          std::max<std::uint64_t>(totals_.last_step, steps.first_step + steps.count - 1);
      return;
    }
    case Kind::kFragmentMerged: {
      const tape::FragmentMerged& merged = fact.fragment_merged;
      ++totals_.merged;
      totals_.contributions += merged.contributor_count;
      totals_.grace_overruns += merged.overrun > 0;
      totals_.rounds = std::max<std::uint64_t>(totals_.rounds, merged.step);
      return;
    }
    case Kind::kFragmentAdopted:
      totals_.late_adoptions += fact.fragment_adopted.lag_steps > overlap_steps_;
      return;
    case Kind::kFragmentSkipped:
      ++totals_.skipped[static_cast<std::size_t>(fact.fragment_skipped.reason)];
      return;
    case Kind::kFragmentLost:
      ++totals_.lost[static_cast<std::size_t>(fact.fragment_lost.reason)];
      return;
    default: return;
  }
}

}  // namespace sim::readers

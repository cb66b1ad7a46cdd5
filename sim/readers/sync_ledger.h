// sim/readers/sync_ledger.h: how many merges there were, who took part, and what went wrong with them.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/tape/reader.h"
#include "sim/tape/run_shape.h"

namespace sim::readers {

constexpr int kLossReasonCount = static_cast<int>(tape::LossReason::kReceiverDied) + 1;
std::string_view loss_reason_name(tape::LossReason reason);  // snake_case

struct SyncTotals {
  // Fragments that fell due: skipped, or taken for a sync (merged or not). What a late learner skips
  // because the others merged without it fell due with them.
  std::uint64_t due = 0;
  std::uint64_t merged = 0;
  // Of those: published within ceil(tau) steps, and where tau > 0, while no learner waited for a merge.
  std::uint64_t in_time = 0;
  std::uint64_t lone = 0;  // with one contributor where there are more learners
  std::uint64_t contributions = 0;  // sum over merges of their contributors
  std::array<std::uint64_t, kLossReasonCount> skipped{};  // fragments due and not even taken
  std::array<std::uint64_t, kLossReasonCount> lost{};     // takes that did not reach their merge
  std::uint64_t late_adoptions = 0;  // contributors that adopted more than overlap steps after the take
  std::uint64_t grace_overruns = 0;  // merges whose quorum, grace and sync together took over tau steps
  std::uint64_t rounds = 0;          // the syncer's last global step that merged
  std::uint64_t learner_steps = 0;   // steps done by all learners together, undone ones included
  std::uint64_t last_step = 0;       // largest number of a step that any learner finished

  std::uint64_t late() const { return merged - in_time; }
  std::uint64_t skipped_count() const;
  std::uint64_t lost_count() const;
  // Contributors per merge over learners; 0 without a merge.
  double participation(std::size_t learner_count) const;
};

class SyncLedger : public tape::Reader {
 public:
  // overlap_steps: ceil(tau), the lag in steps up to which an adoption is in time.
  SyncLedger(std::uint32_t overlap_steps, std::size_t learner_count)
      : overlap_steps_(overlap_steps), waits_(learner_count, false) {}

  void on(const tape::Fact& fact) override;
  const SyncTotals& totals() const { return totals_; }

 private:
  // The fragment's last sync: it has at most one under way.
  struct LastSync {
    std::uint32_t sync = UINT32_MAX;
    std::uint32_t step = 0;        // of the first take
    std::uint32_t open_takes = 0;  // neither merged nor lost
    bool merged = false;
  };
  LastSync& last_sync(std::uint16_t fragment);
  void on_steps(const tape::StepsDone& steps);
  void on_taken(const tape::FragmentTaken& taken);
  void on_merged(const tape::FragmentMerged& merged);
  void on_lost(const tape::FragmentLost& lost);
  void on_skipped(const tape::FragmentSkipped& skipped);
  void on_activity(const tape::ActivityChanged& change);

  std::uint32_t overlap_steps_;
  std::vector<bool> waits_;  // per learner: for a merge
  std::size_t waiting_ = 0;
  std::vector<LastSync> last_syncs_;  // per fragment
  SyncTotals totals_;
};

}  // namespace sim::readers

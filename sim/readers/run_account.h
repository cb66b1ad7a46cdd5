// sim/readers/run_account.h: all ledgers of one run behind one reader, with their accounts at the marks.
//
// Time measures are reported at the time mark, bytes and tokens at every mark: the ledgers are asked
// at MarkReached and at RunEnded, and the laws of closing are checked each time.
#pragma once

#include <array>
#include <optional>

#include "sim/readers/activity_ledger.h"
#include "sim/readers/cost.h"
#include "sim/readers/energy.h"
#include "sim/readers/fault_log.h"
#include "sim/readers/goodput.h"
#include "sim/readers/liveness.h"
#include "sim/readers/properties.h"
#include "sim/readers/provenance.h"
#include "sim/readers/step_times.h"
#include "sim/readers/sync_ledger.h"
#include "sim/readers/token_ledger.h"
#include "sim/readers/traffic_ledger.h"
#include "sim/readers/vector_clocks.h"

namespace sim::readers {

struct AccountOptions {
  std::uint32_t quorum;         // K; 0 for a method that does not merge
  std::uint32_t overlap_steps;  // ceil(tau)
  TokenCounting counting;       // kAtOnce for data parallel and where no merges are simulated
  double mixing = 0;            // alpha: weight of the local value at an adoption
  bool transfers_are_told = true;  // false: no network
  LivenessOptions liveness = {};
  EnergyOptions energy = {};
  CostOptions cost = {};
};

// Everything at one date.
struct Account {
  Nanoseconds at = 0;
  std::uint64_t consumed_tokens = 0, merged_tokens = 0;  // see token_ledger.h
  ActivityTotals activity;
  Goodput goodput;
  TokenTotals tokens;
  WanTotals wan;
  SyncTotals syncs;
  std::size_t faults_met = 0;
  double wan_bytes_per_token = 0;  // merged ones; 0 without
  // None where watts or prices are unknown: at the declared stall power, and at both ends of what is
  // plausible for it.
  std::optional<Energy> energy, energy_stall_low, energy_stall_high;
  std::optional<Cost> cost;
};

class RunAccount : public tape::Reader {
 public:
  // The shape outlives the account.
  RunAccount(const tape::RunShape& shape, AccountOptions options);
  RunAccount(const RunAccount&) = delete;
  RunAccount& operator=(const RunAccount&) = delete;

  void on(const tape::Fact& fact) override;

  // At `now`, not before the last fact. Throws std::logic_error when a law of closing is broken.
  Account take(Nanoseconds now) const;

  const std::optional<Account>& at_mark(tape::MarkKind mark) const {
    return at_mark_[static_cast<std::size_t>(mark)];
  }
  const std::optional<Account>& at_time_mark() const { return at_mark(tape::MarkKind::kTime); }
  const std::optional<Account>& at_token_mark() const { return at_mark(tape::MarkKind::kTokens); }
  const std::optional<Account>& at_end() const { return at_end_; }

  const ActivityLedger& activity() const { return activity_; }
  const TokenLedger& tokens() const { return tokens_; }
  const TrafficLedger& traffic() const { return traffic_; }
  const StepTimes& step_times() const { return step_times_; }
  const SyncLedger& syncs() const { return syncs_; }
  // What the run has used by `now`, as in take(); none where watts or prices are unknown.
  std::optional<Energy> energy_at(Nanoseconds now) const;
  std::optional<Cost> cost_at(Nanoseconds now) const { return cost_.at(now, traffic_); }

  const AccountOptions& options() const { return options_; }
  const CostLedger& cost() const { return cost_; }
  const FaultLog& faults() const { return faults_; }
  const Properties& properties() const { return properties_; }
  const VectorClocks& clocks() const { return clocks_; }
  const Provenance& provenance() const { return provenance_; }
  const Liveness& liveness() const { return liveness_; }

 private:
  const tape::RunShape& shape_;
  AccountOptions options_;
  ActivityGrid grid_;
  ActivityLedger activity_;
  TokenLedger tokens_;
  TrafficLedger traffic_;
  CostLedger cost_;
  SyncLedger syncs_;
  StepTimes step_times_;
  FaultLog faults_;
  Properties properties_;
  VectorClocks clocks_;
  Provenance provenance_;
  Liveness liveness_;
  std::array<std::optional<Account>, tape::kMarkKindCount> at_mark_;
  std::optional<Account> at_end_;
};

}  // namespace sim::readers

// sim/readers/run_account.cpp: see run_account.h.
#include "sim/readers/run_account.h"

namespace sim::readers {

RunAccount::RunAccount(const tape::RunShape& shape, AccountOptions options)
    : shape_(shape),
      activity_(shape, &grid_),
      tokens_(shape, options.counting),
      traffic_(shape),
      syncs_(options.overlap_steps),
      properties_(shape, options.quorum),
      clocks_(shape) {}

void RunAccount::on(const tape::Fact& fact) {
  // Properties first: their text says more than the exception of a ledger.
  properties_.on(fact);
  clocks_.on(fact);
  activity_.on(fact);
  tokens_.on(fact);
  traffic_.on(fact);
  syncs_.on(fact);
  step_times_.on(fact);
  faults_.on(fact);
  if (fact.kind == tape::Kind::kMarkReached) {
    (fact.mark_reached.mark == tape::MarkKind::kTime ? at_time_mark_ : at_token_mark_) =
        take(fact.at);
  } else if (fact.kind == tape::Kind::kRunEnded) {
    at_end_ = take(fact.at);
  }
}

Account RunAccount::take(Nanoseconds now) const {
  tokens_.check_closed();
  traffic_.check_closed();
  Account account;
  account.at = now;
  account.unique_tokens = tokens_.unique_tokens();
  account.activity = activity_.snapshot(now);
  account.goodput = goodput(shape_, account.activity, account.unique_tokens);
  account.tokens = tokens_.model();
  account.wan = traffic_.wan_totals(now);
  account.syncs = syncs_.totals();
  account.faults_met = faults_.met_count();
  if (account.unique_tokens > 0) {
    account.wan_bytes_per_token =
        static_cast<double>(account.wan.bytes) / static_cast<double>(account.unique_tokens);
  }
  return account;
}

}  // namespace sim::readers

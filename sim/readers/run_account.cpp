// sim/readers/run_account.cpp: see run_account.h.
#include "sim/readers/run_account.h"

namespace sim::readers {

RunAccount::RunAccount(const tape::RunShape& shape, AccountOptions options)
    : shape_(shape),
      options_(options),
      activity_(shape, &grid_),
      tokens_(shape, options.counting, options.mixing),
      traffic_(shape),
      cost_(shape, options.cost),
      syncs_(options.overlap_steps, shape.learners.size()),
      properties_(shape, options.quorum),
      clocks_(shape),
      provenance_(shape, options.transfers_are_told),
      liveness_(shape, options.liveness) {}

void RunAccount::on(const tape::Fact& fact) {
  // Properties first: their text says more than the exception of a ledger.
  properties_.on(fact);
  clocks_.on(fact);
  provenance_.on(fact);
  liveness_.on(fact);
  activity_.on(fact);
  tokens_.on(fact);
  traffic_.on(fact);
  cost_.on(fact);
  syncs_.on(fact);
  step_times_.on(fact);
  faults_.on(fact);
  if (fact.kind == tape::Kind::kMarkReached) {
    at_mark_[static_cast<std::size_t>(fact.mark_reached.mark)] = take(fact.at);
  } else if (fact.kind == tape::Kind::kRunEnded) {
    at_end_ = take(fact.at);
  }
}

Account RunAccount::take(Nanoseconds now) const {
  tokens_.check_closed();
  traffic_.check_closed();
  Account account;
  account.at = now;
  account.consumed_tokens = tokens_.consumed_tokens();
  account.merged_tokens = tokens_.merged_tokens();
  account.activity = activity_.snapshot(now);
  account.goodput = goodput(shape_, account.activity, account.merged_tokens);
  account.tokens = tokens_.model();
  account.wan = traffic_.wan_totals(now);
  account.syncs = syncs_.totals();
  account.faults_met = faults_.met_count();
  const auto energy_with = [&](double stall) {
    return energy(shape_, options_.energy, stall, account.activity, account.tokens,
                  account.wan.bytes);
  };
  account.energy = energy_with(options_.energy.stall);
  account.energy_stall_low = energy_with(options_.energy.stall_low);
  account.energy_stall_high = energy_with(options_.energy.stall_high);
  account.cost = cost_at(now);
  if (account.merged_tokens > 0) {
    account.wan_bytes_per_token =
        static_cast<double>(account.wan.bytes) / static_cast<double>(account.merged_tokens);
  }
  return account;
}

std::optional<Energy> RunAccount::energy_at(Nanoseconds now) const {
  const ByteTotals wan = traffic_.wan();
  return energy(shape_, options_.energy, options_.energy.stall, activity_.snapshot(now),
                tokens_.model(), wan.received + wan.lost);
}

}  // namespace sim::readers

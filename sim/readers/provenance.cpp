// sim/readers/provenance.cpp: see provenance.h for the law.
#include "sim/readers/provenance.h"

#include <fmt/format.h>

#include <algorithm>

namespace sim::readers {
namespace {

constexpr std::size_t kViolationsKept = 20;
constexpr std::size_t kVersionsKept = 256;  // of a fragment, for learners that adopt late

// Whether `to` had less.
template <class Value>
bool raise(const std::vector<Value>& from, std::vector<Value>& to) {
  bool more = false;
  for (std::size_t i = 0; i < to.size(); ++i) {
    more = more || from[i] > to[i];
    to[i] = std::max(to[i], from[i]);
  }
  return more;
}

}  // namespace

using tape::Kind;

Provenance::Provenance(const tape::RunShape& shape, bool transfers_are_told)
    : shape_(shape),
      transfers_are_told_(transfers_are_told),
      stores_(shape.regions.size(),
              {std::vector<Nanoseconds>(shape.regions.size(), kNothing),
               std::vector<std::int64_t>(shape.fragment_parameters.size(), 0)}),
      fragments_(shape.fragment_parameters.size()),
      host_holds_(shape.slices.size(), true),
      joined_(shape.slices.size(), true),
      gone_since_(shape.learners.size(), base::kNever) {}

void Provenance::on(const tape::Fact& fact) {
  now_ = fact.at;
  switch (fact.kind) {
    case Kind::kTransferStarted: return on_started(fact.transfer_started);
    case Kind::kTransferDone: return on_done(fact.transfer_done);
    case Kind::kFragmentTaken: return on_taken(fact.fragment_taken);
    case Kind::kFragmentMerged: return on_merged(fact.fragment_merged);
    case Kind::kFragmentLost:
      std::erase_if(fragments_.at(fact.fragment_lost.fragment).takes, [&](const Take& take) {
        return take.sync == fact.fragment_lost.sync && take.learner == fact.fragment_lost.learner;
      });
      return;
    case Kind::kFragmentAdopted: return on_adopted(fact.fragment_adopted);
    case Kind::kFragmentRestored: return on_gone_back(fact.fragment_restored);
    case Kind::kGlobalRestored: return on_restored(fact.global_restored);
    case Kind::kFaultStarted: return on_fault(fact.fault_started);
    case Kind::kSliceChanged: return on_slice(fact.slice_changed);
    case Kind::kStateCopied: return on_new_life(fact.state_copied.receiver);
    case Kind::kRolledBack: return on_new_life(fact.rolled_back.learner);
    case Kind::kStepsDone: return on_steps(fact.steps_done);
    default: return;
  }
}

// --- Bytes ---

void Provenance::on_started(const tape::TransferStarted& started) {
  if (started.traffic == tape::TrafficClass::kControl ||
      started.source_region == started.target_region) {
    return;
  }
  Exchange& exchange = exchanges_[started.exchange];
  exchange.hops.push_back({started.source_region, started.target_region});
  ++exchange.open;
  exchange_of_[started.transfer] = started.exchange;
}

void Provenance::on_done(const tape::TransferDone& done) {
  const auto number = exchange_of_.find(done.transfer);
  if (number == exchange_of_.end()) return;
  const auto found = exchanges_.find(number->second);
  exchange_of_.erase(number);
  Exchange& exchange = found->second;
  exchange.broken = exchange.broken || done.status != tape::TransferStatus::kOk;
  if (--exchange.open > 0) return;
  if (!exchange.broken) deliver(exchange);
  exchanges_.erase(found);
}

// Hops of one exchange pass on what they are given: a ring brings everything to everybody.
void Provenance::deliver(const Exchange& exchange) {
  for (const auto& [source, target] : exchange.hops) stores_[source].news[source] = now_;
  for (bool more = true; more;) {
    more = false;
    for (const auto& [source, target] : exchange.hops) {
      more = raise(stores_[source].news, stores_[target].news) || more;
      more = raise(stores_[source].merge, stores_[target].merge) || more;
    }
  }
}

void Provenance::share_everywhere() {
  for (std::size_t p = 0; p < fragments_.size(); ++p) {
    std::int64_t best = kNothing;
    for (const Store& store : stores_) best = std::max(best, store.merge[p]);
    for (Store& store : stores_) store.merge[p] = best;
  }
}

// --- Versions ---

void Provenance::on_taken(const tape::FragmentTaken& taken) {
  fragments_.at(taken.fragment).takes.push_back({taken.sync, taken.learner, now_});
}

void Provenance::on_merged(const tape::FragmentMerged& merged) {
  Fragment& fragment = fragments_.at(merged.fragment);
  std::vector<Nanoseconds> needed(stores_.size(), kNothing);
  std::erase_if(fragment.takes, [&](const Take& take) {
    if (take.sync != merged.sync) return false;
    if (spans_regions(take.learner)) return true;
    Nanoseconds& date = needed[region_of(take.learner)];
    date = std::max(date, take.at);
    return true;
  });
  if (!transfers_are_told_) share_everywhere();
  const std::int64_t before = fragment.newest;
  fragment.newest = ++merges_;
  bool made_somewhere = false;
  for (std::size_t r = 0; r < stores_.size(); ++r) {
    Store& store = stores_[r];
    bool has_all = store.merge[merged.fragment] >= before;
    for (std::size_t s = 0; s < stores_.size() && transfers_are_told_; ++s) {
      has_all = has_all && (s == r || store.news[s] >= needed[s]);
    }
    if (!has_all) continue;
    store.merge[merged.fragment] = fragment.newest;
    made_somewhere = true;
  }
  if (!made_somewhere) {
    violation(fmt::format("version {} of fragment {} is made where nobody holds the one before and "
                          "all that it is made of",
                          merged.version, merged.fragment));
    for (Store& store : stores_) store.merge[merged.fragment] = fragment.newest;  // told once
  }
  fragment.made.push_back({merged.sync, merged.version, fragment.newest});
  if (fragment.made.size() > kVersionsKept) {
    fragment.made.pop_front();
    fragment.forgot = true;
  }
}

void Provenance::on_adopted(const tape::FragmentAdopted& adopted) {
  const Fragment& fragment = fragments_.at(adopted.fragment);
  const auto made =
      std::ranges::find_if(fragment.made, [&](const Made& m) { return m.sync == adopted.sync; });
  if (made == fragment.made.end()) return;  // another law says whether it was merged
  if (!transfers_are_told_) share_everywhere();
  if (has_merge(adopted.learner, adopted.fragment, made->merge)) return;
  violation(fmt::format("learner {} adopts version {} of fragment {}, which no bytes brought to {}",
                        adopted.learner, adopted.version, adopted.fragment,
                        shape_.regions[region_of(adopted.learner)]));
}

bool Provenance::spans_regions(std::uint16_t learner) const {
  return std::ranges::any_of(shape_.learners.at(learner).slices, [&](std::uint32_t slice) {
    return shape_.slices[slice].region != region_of(learner);
  });
}

// In some region where it has a slice.
bool Provenance::has_merge(std::uint16_t learner, std::uint16_t fragment, std::int64_t merge) const {
  return std::ranges::any_of(shape_.learners.at(learner).slices, [&](std::uint32_t slice) {
    return stores_[shape_.slices[slice].region].merge[fragment] >= merge;
  });
}

// Whoever may hold that version holds the first of the new epoch.
void Provenance::on_gone_back(const tape::FragmentRestored& restored) {
  Fragment& fragment = fragments_.at(restored.fragment);
  const auto made = std::ranges::find_if(
      fragment.made, [&](const Made& m) { return m.version == restored.version; });
  const bool known = made != fragment.made.end();
  if (!known && fragment.forgot) return begin_epoch(fragment);
  const std::int64_t kept = known ? made->merge : 0;
  const std::uint16_t region = region_of(restored.shard);
  if (stores_[region].merge[restored.fragment] < kept) {
    violation(fmt::format("fragment {} goes back to version {}, which no bytes brought to {}",
                          restored.fragment, restored.version, shape_.regions[region]));
  }
  begin_epoch(fragment);
  for (Store& store : stores_) {
    if (store.merge[restored.fragment] >= kept) store.merge[restored.fragment] = fragment.newest;
  }
}

void Provenance::begin_epoch(Fragment& fragment) {
  fragment.newest = ++merges_;
  fragment.made.clear();
  fragment.forgot = false;
}

// From the store, anybody; from a learner, its region and those that had bytes of it since.
void Provenance::on_restored(const tape::GlobalRestored& restored) {
  const bool from_store = restored.learner == tape::kNoLearner;
  const std::size_t source = from_store ? 0 : region_of(restored.learner);
  for (std::size_t p = 0; p < fragments_.size(); ++p) {
    begin_epoch(fragments_[p]);
    for (std::size_t r = 0; r < stores_.size(); ++r) {
      const bool has_it = from_store || !transfers_are_told_ || r == source ||
                          stores_[r].news[source] > kNothing;
      if (has_it) stores_[r].merge[p] = fragments_[p].newest;
    }
  }
}

// --- Deaths ---

void Provenance::on_fault(const tape::FaultStarted& fault) {
  const bool region = fault.target_kind == tape::TargetKind::kRegion;
  const bool island = fault.target_kind == tape::TargetKind::kIsland;
  if (fault.kind != tape::FaultKind::kKill || (!region && !island)) return;
  if (region) wipe(static_cast<std::uint16_t>(fault.target));
  for (std::size_t s = 0; s < shape_.slices.size(); ++s) {
    const tape::SliceShape& slice = shape_.slices[s];
    if ((region ? slice.region : slice.island) != fault.target) continue;
    host_holds_[s] = false;
  }
  for (std::size_t m = 0; m < gone_since_.size(); ++m) {
    const auto& slices = shape_.learners[m].slices;
    const bool gone =
        std::ranges::none_of(slices, [&](std::uint32_t s) { return host_holds_[s]; });
    if (gone) gone_since_[m] = std::min(gone_since_[m], now_);
  }
}

// Steps that ended with the hosts are told after their death.
void Provenance::on_steps(const tape::StepsDone& steps) {
  Nanoseconds& since = gone_since_.at(steps.learner);
  if (steps.start + steps.period * steps.count <= since) return;
  violation(fmt::format("learner {} steps with a state that died with its last host", steps.learner));
  since = base::kNever;  // told once
}

void Provenance::wipe(std::uint16_t region) {
  Store& store = stores_.at(region);
  std::ranges::fill(store.news, kNothing);
  std::ranges::fill(store.merge, kNothing);
}

void Provenance::on_slice(const tape::SliceChanged& change) {
  joined_.at(change.slice) = change.state == tape::SliceState::kJoined;
  const std::uint16_t learner = shape_.slices[change.slice].learner;
  if (learner == tape::kNoLearner || !joined_[change.slice]) return;
  host_holds_[change.slice] = host_holds_[change.slice] || gone_since_[learner] == base::kNever;
}

void Provenance::on_new_life(std::uint16_t learner) {
  gone_since_.at(learner) = base::kNever;
  for (const std::uint32_t slice : shape_.learners[learner].slices) {
    if (joined_[slice]) host_holds_[slice] = true;
  }
}

void Provenance::violation(const std::string& text) {
  ++violation_count_;
  if (violations_.size() >= kViolationsKept) return;
  violations_.push_back(fmt::format("provenance at {} s: {}", base::format_seconds(now_), text));
}

}  // namespace sim::readers

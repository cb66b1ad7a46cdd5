// sim/readers/token_ledger.cpp: see token_ledger.h for the rules.
#include "sim/readers/token_ledger.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace sim::readers {

using tape::Kind;

std::string_view discard_reason_name(DiscardReason reason) {
  return reason == DiscardReason::kLearnerDied ? "learner_died" : "not_in_quorum";
}

TokenLedger::TokenLedger(const tape::RunShape& shape)
    : TokenLedger(shape, shape.model_is_learner ? TokenCounting::kAtOnce : TokenCounting::kAtMerge) {}

TokenLedger::TokenLedger(const tape::RunShape& shape, TokenCounting counting, double mixing)
    : may_roll_back_(shape.may_roll_back),
      at_once_(counting == TokenCounting::kAtOnce),
      mixing_(mixing),
      learners_(shape.learners.size()),
      kept_(shape.learners.size()) {
  for (const std::int64_t parameters : shape.fragment_parameters) {
    if (parameters <= 0) throw std::invalid_argument("a fragment must have parameters");
    sizes_.push_back(static_cast<std::uint64_t>(parameters));
  }
  if (sizes_.empty()) sizes_.push_back(1);
  for (const std::uint64_t size : sizes_) size_total_ += size;
  held_.resize(learners_.size() * sizes_.size());
  fragments_.resize(sizes_.size());
}

TokenLedger::Held& TokenLedger::held(std::uint16_t learner, std::size_t fragment) {
  return held_.at(learner * sizes_.size() + fragment);
}

void TokenLedger::merge(std::size_t fragment, std::uint64_t tokens) {
  fragments_[fragment].merged += tokens;
  merged_ += WeightedTokens{tokens} * sizes_[fragment];
}

void TokenLedger::discard(std::size_t fragment, DiscardReason reason, std::uint64_t tokens) {
  fragments_[fragment].discarded[static_cast<std::size_t>(reason)] += tokens;
  consumed_ -= WeightedTokens{tokens} * sizes_[fragment];
}

void TokenLedger::roll_back(std::size_t fragment, std::uint64_t tokens) {
  fragments_[fragment].rolled_back += tokens;
  consumed_ -= WeightedTokens{tokens} * sizes_[fragment];
}

void TokenLedger::on(const tape::Fact& fact) {
  switch (fact.kind) {
    case Kind::kStepsDone: return on_steps(fact.steps_done);
    case Kind::kFragmentTaken: return on_taken(fact.fragment_taken);
    case Kind::kFragmentMerged: return on_merged(fact.fragment_merged);
    case Kind::kFragmentLost: return on_lost(fact.fragment_lost);
    case Kind::kFragmentAdopted: return on_adopted(fact.fragment_adopted);
    case Kind::kStateCopied: return on_copied(fact.state_copied);
    case Kind::kCheckpointSaved: return on_checkpoint(fact.checkpoint_saved);
    case Kind::kRolledBack: return on_rollback(fact.rolled_back);
    case Kind::kGlobalRestored: return on_restored(fact.global_restored);
    case Kind::kFragmentKept: {
      Fragment& fragment = fragments_.at(fact.fragment_kept.fragment);
      fragment.kept[fact.fragment_kept.shard] = {fragment.merged, fragment.overwritten};
      return;
    }
    case Kind::kFragmentDropped:
      fragments_.at(fact.fragment_dropped.fragment).kept.erase(fact.fragment_dropped.shard);
      return;
    case Kind::kFragmentRestored: return on_gone_back(fact.fragment_restored);
    default: return;
  }
}

void TokenLedger::on_steps(const tape::StepsDone& steps) {
  const std::uint64_t tokens = std::uint64_t{steps.tokens} * steps.count;
  learners_.at(steps.learner).processed += tokens;
  consumed_ += WeightedTokens{tokens} * size_total_;
  if (at_once_) {
    for (std::size_t p = 0; p < sizes_.size(); ++p) {
      held(steps.learner, p).settled += tokens;
      merge(p, tokens);
    }
  }
  if (may_roll_back_) keep(steps);
}

void TokenLedger::keep(const tape::StepsDone& steps) {
  std::vector<Stretch>& kept = kept_[steps.learner];
  if (!kept.empty() && kept.back().tokens == steps.tokens &&
      kept.back().first_step + kept.back().count == steps.first_step) {
    kept.back().count += steps.count;
  } else {
    kept.push_back({steps.first_step, steps.count, steps.tokens});
  }
}

void TokenLedger::on_taken(const tape::FragmentTaken& taken) {
  Held& mine = held(taken.learner, taken.fragment);
  fragments_.at(taken.fragment)
      .takes.push_back({taken.sync, taken.learner, learners_[taken.learner].lives,
                        pending(mine, taken.learner)});
  mine.settled = learners_[taken.learner].processed;
}

TokenLedger::Take TokenLedger::close_take(std::uint16_t fragment, std::uint32_t sync,
                                          std::uint16_t learner) {
  std::vector<Take>& takes = fragments_.at(fragment).takes;
  const auto found = std::ranges::find_if(
      takes, [&](const Take& take) { return take.sync == sync && take.learner == learner; });
  if (found == takes.end()) {
    throw std::logic_error(fmt::format(
        "sync {} of fragment {} ends for learner {}, but nothing of it was taken", sync, fragment,
        learner));
  }
  const Take take = *found;
  takes.erase(found);
  return take;
}

void TokenLedger::on_merged(const tape::FragmentMerged& merged) {
  for (std::uint32_t i = 0; i < merged.contributor_count; ++i) {
    const std::uint16_t learner = merged.contributors[i].learner;
    const Take take = close_take(merged.fragment, merged.sync, learner);
    merge(merged.fragment, take.tokens);
    Held& mine = held(learner, merged.fragment);
    mine.merge_before = mine.merge;
    mine.merge = merged.sync;
  }
}

void TokenLedger::on_lost(const tape::FragmentLost& lost) {
  const Take take = close_take(lost.fragment, lost.sync, lost.learner);
  if (take.life == learners_[lost.learner].lives) {
    held(lost.learner, lost.fragment).settled -= take.tokens;
  } else {
    discard(lost.fragment, DiscardReason::kLearnerDied, take.tokens);
  }
}

void TokenLedger::on_adopted(const tape::FragmentAdopted& adopted) {
  Held& mine = held(adopted.learner, adopted.fragment);
  const std::uint64_t stood = pending(mine, adopted.learner);
  const auto stays = static_cast<std::uint64_t>(mixing_ * static_cast<double>(stood));
  const std::uint64_t gone = stood - stays;
  if (mine.merge == adopted.sync || mine.merge_before == adopted.sync) {
    fragments_[adopted.fragment].overwritten += gone;
  } else {
    discard(adopted.fragment, DiscardReason::kNotInQuorum, gone);
  }
  mine.settled += gone;
}

void TokenLedger::on_copied(const tape::StateCopied& copied) {
  Learner& learner = learners_.at(copied.receiver);
  for (std::size_t p = 0; p < sizes_.size(); ++p) {
    Held& mine = held(copied.receiver, p);
    discard(p, DiscardReason::kLearnerDied, pending(mine, copied.receiver));
    mine = {learner.processed, kNone, kNone};
  }
  ++learner.lives;
  kept_[copied.receiver].clear();
}

// What was merged into the versions that are gone is undone. Where the way leads back to a save that is
// newer than an earlier way back, what that one undid stands again: `undone` is negative.
void TokenLedger::go_back(std::size_t fragment, std::uint64_t merged, std::uint64_t overwritten) {
  Fragment& now = fragments_[fragment];
  const auto difference = [](std::uint64_t a, std::uint64_t b) {
    return static_cast<std::int64_t>(a - b);
  };
  const auto weighs = [&](std::int64_t tokens) {
    return static_cast<WeightedTokens>(tokens) * sizes_[fragment];  // modulo 2^128
  };
  const std::int64_t unmerged = difference(now.merged, merged);
  const std::int64_t undone = unmerged + difference(now.overwritten, overwritten);
  now.rolled_back += static_cast<std::uint64_t>(undone);
  now.merged = merged;
  now.overwritten = overwritten;
  merged_ -= weighs(unmerged);
  consumed_ -= weighs(undone);
}

void TokenLedger::on_gone_back(const tape::FragmentRestored& restored) {
  const KeptTokens& kept = fragments_.at(restored.fragment).kept.at(restored.shard);
  go_back(restored.fragment, kept.merged, kept.overwritten);
}

void TokenLedger::save_global() {
  for (Fragment& fragment : fragments_) {
    fragment.saved_merged = fragment.merged;
    fragment.saved_overwritten = fragment.overwritten;
  }
  for (auto& kept : kept_) kept.clear();
}

void TokenLedger::restore_saved() {
  for (std::size_t p = 0; p < sizes_.size(); ++p) {
    go_back(p, fragments_[p].saved_merged, fragments_[p].saved_overwritten);
  }
}

void TokenLedger::on_checkpoint(const tape::CheckpointSaved& saved) {
  if (saved.learner == tape::kNoLearner) return save_global();
  std::vector<Stretch>& kept = kept_.at(saved.learner);
  std::erase_if(kept, [&](const Stretch& s) { return s.first_step + s.count <= saved.step + 1; });
  for (Stretch& stretch : kept) {
    const std::uint32_t first = std::max(stretch.first_step, saved.step + 1);
    stretch.count -= first - stretch.first_step;
    stretch.first_step = first;
  }
}

// Forgets the kept stretches and returns the tokens of their steps after `to_step`.
std::uint64_t TokenLedger::undo_kept(std::uint16_t learner, std::uint32_t to_step) {
  std::uint64_t tokens = 0;
  for (const Stretch& stretch : kept_.at(learner)) {
    const std::uint32_t end = stretch.first_step + stretch.count;
    const std::uint32_t first = std::max(stretch.first_step, to_step + 1);
    if (first < end) tokens += std::uint64_t{end - first} * stretch.tokens;
  }
  kept_[learner].clear();
  return tokens;
}

void TokenLedger::on_rollback(const tape::RolledBack& rollback) {
  const std::uint64_t undone = undo_kept(rollback.learner, rollback.to_step);
  ++learners_[rollback.learner].lives;
  for (std::size_t p = 0; p < sizes_.size(); ++p) {
    if (at_once_) {
      fragments_[p].merged -= undone;
      merged_ -= WeightedTokens{undone} * sizes_[p];
      roll_back(p, undone);
    } else {
      Held& mine = held(rollback.learner, p);
      const std::uint64_t part = std::min(undone, pending(mine, rollback.learner));
      roll_back(p, part);
      mine = {mine.settled + part, kNone, kNone};
    }
  }
}

void TokenLedger::on_restored(const tape::GlobalRestored& restored) {
  if (at_once_) return;
  if (restored.learner == tape::kNoLearner) return restore_saved();
  for (std::size_t p = 0; p < sizes_.size(); ++p) {
    Held& mine = held(restored.learner, p);
    const std::uint64_t tokens = pending(mine, restored.learner);
    merge(p, tokens);
    mine.settled += tokens;
  }
}

std::uint64_t TokenLedger::weighed(WeightedTokens tokens) const {
  return static_cast<std::uint64_t>((tokens + size_total_ / 2) / size_total_);
}

TokenTotals TokenLedger::fragment(std::uint16_t index) const {
  const Fragment& fragment = fragments_.at(index);
  TokenTotals totals{0, fragment.merged, fragment.overwritten, fragment.discarded,
                     fragment.rolled_back, 0};
  for (std::size_t m = 0; m < learners_.size(); ++m) {
    totals.processed += learners_[m].processed;
    totals.in_flight += learners_[m].processed - held_[m * sizes_.size() + index].settled;
  }
  for (const Take& take : fragment.takes) totals.in_flight += take.tokens;
  return totals;
}

TokenTotals TokenLedger::model() const {
  WeightedTokens overwritten = 0, rolled_back = 0;
  std::array<WeightedTokens, kDiscardReasonCount> discarded{};
  for (std::size_t p = 0; p < sizes_.size(); ++p) {
    overwritten += WeightedTokens{fragments_[p].overwritten} * sizes_[p];
    rolled_back += WeightedTokens{fragments_[p].rolled_back} * sizes_[p];
    for (std::size_t r = 0; r < discarded.size(); ++r) {
      discarded[r] += WeightedTokens{fragments_[p].discarded[r]} * sizes_[p];
    }
  }
  TokenTotals totals;
  for (const Learner& learner : learners_) totals.processed += learner.processed;
  // Rounded down but for the headline, so that no sum of parts can exceed the whole.
  const auto rounded = [&](WeightedTokens w) { return static_cast<std::uint64_t>(w / size_total_); };
  totals.overwritten = rounded(overwritten);
  totals.merged = merged_tokens();
  totals.rolled_back = rounded(rolled_back);
  std::uint64_t settled = totals.merged + totals.overwritten + totals.rolled_back;
  for (std::size_t r = 0; r < discarded.size(); ++r) {
    totals.discarded[r] = rounded(discarded[r]);
    settled += totals.discarded[r];
  }
  totals.in_flight = totals.processed - settled;
  return totals;
}

void TokenLedger::check_closed() const {
  for (std::size_t p = 0; p < sizes_.size(); ++p) {
    const TokenTotals t = fragment(static_cast<std::uint16_t>(p));
    std::uint64_t sum = t.merged + t.overwritten + t.rolled_back + t.in_flight;
    for (const std::uint64_t part : t.discarded) sum += part;
    if (sum != t.processed) {
      throw std::logic_error(fmt::format(
          "tokens of fragment {} do not close: processed {}, accounted for {}", p, t.processed, sum));
    }
  }
}

}  // namespace sim::readers

// sim/readers/vector_clocks.cpp: see vector_clocks.h.
#include "sim/readers/vector_clocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace sim::readers {
namespace {

constexpr std::size_t kLearnersMax = 256;
constexpr std::size_t kVersionsKept = 64;  // for learners that are down for long
constexpr std::size_t kViolationsKept = 20;

bool is_live(tape::Activity activity) {
  switch (activity) {
    case tape::Activity::kStepping:
    case tape::Activity::kDetecting:
    case tape::Activity::kDownscaling:
    case tape::Activity::kUpscaling:
    case tape::Activity::kSavingCheckpoint:
    case tape::Activity::kWaitingForMerge:
    case tape::Activity::kWaitingForNetwork: return true;
    default: return false;
  }
}

}  // namespace

using tape::Kind;

VectorClocks::VectorClocks(const tape::RunShape& shape) {
  const std::size_t learners = shape.learners.size();
  if (shape.model_is_learner || learners > kLearnersMax) return;
  clocks_.assign(learners + 1, Clock(learners + 1, 0));
  live_.assign(learners, true);
  fragments_.resize(shape.fragment_parameters.size());
  for (Fragment& fragment : fragments_) fragment.adopted.assign(learners, 0);
  newest_take_.assign(learners, 0);
  newest_adopted_.assign(learners, 0);
}

void VectorClocks::on(const tape::Fact& fact) {
  if (clocks_.empty()) return;
  now_ = fact.at;
  switch (fact.kind) {
    case Kind::kStepsDone: return on_steps(fact.steps_done);
    case Kind::kActivityChanged:
      live_.at(fact.activity_changed.learner) = is_live(fact.activity_changed.activity);
      return;
    case Kind::kFragmentTaken: return on_taken(fact.fragment_taken);
    case Kind::kFragmentMerged: return on_merged(fact.fragment_merged);
    case Kind::kFragmentLost: return on_lost(fact.fragment_lost);
    case Kind::kFragmentAdopted: return on_adopted(fact.fragment_adopted);
    case Kind::kStateSent: {
      const tape::StateSent& sent = fact.state_sent;
      states_[sent.transfer] = copy_of(sent.donor == tape::kNoLearner ? syncer() : sent.donor);
      return;
    }
    case Kind::kStateCopied: return on_copied(fact.state_copied);
    case Kind::kStateLost: states_.erase(fact.state_lost.transfer); return;
    case Kind::kRolledBack:
      return on_new_life(fact.rolled_back.learner, fact.rolled_back.to_step);
    case Kind::kGlobalRestored:
      // A checkpoint is of the past: it tells nothing new, and the syncer counts on from there.
      if (fact.global_restored.learner == tape::kNoLearner) {
        clocks_.back().back() = 0;
        return;
      }
      return receive(syncer(), clocks_.at(fact.global_restored.learner));
    case Kind::kGraceDecided: {
      std::uint32_t& own = clocks_.back().back();
      if (fact.grace_decided.step < own) {
        violation(fmt::format("the syncer's clock falls from {} to {}", own, fact.grace_decided.step));
      }
      own = std::max(own, fact.grace_decided.step);
      return;
    }
    default: return;
  }
}

void VectorClocks::on_steps(const tape::StepsDone& steps) {
  if (steps.count == 0) return;
  std::uint32_t& own = clocks_.at(steps.learner).at(steps.learner);
  if (steps.first_step <= own) {
    violation(fmt::format("the clock of learner {} falls from {} to {} within a life", steps.learner,
                          own, steps.first_step));
  }
  own = steps.first_step + steps.count - 1;
}

void VectorClocks::on_taken(const tape::FragmentTaken& taken) {
  Clock& clock = clocks_.at(taken.learner);
  clock[taken.learner] = std::max(clock[taken.learner], taken.step);
  fragments_.at(taken.fragment)
      .takes.push_back({taken.sync, taken.learner, ++take_count_, copy_of(taken.learner)});
}

void VectorClocks::on_merged(const tape::FragmentMerged& merged) {
  Fragment& fragment = fragments_.at(merged.fragment);
  for (std::uint32_t i = 0; i < merged.contributor_count; ++i) {
    const std::uint16_t learner = merged.contributors[i].learner;
    const auto take = std::ranges::find_if(fragment.takes, [&](const Take& open) {
      return open.sync == merged.sync && open.learner == learner;
    });
    if (take == fragment.takes.end()) {
      violation(fmt::format("sync {} receives from learner {} what it never sent", merged.sync, learner));
      continue;
    }
    receive(syncer(), take->clock);
    overtaken_takes_ += take->number < newest_take_[learner];
    newest_take_[learner] = std::max(newest_take_[learner], take->number);
    spare_.push_back(std::move(take->clock));
    fragment.takes.erase(take);
  }
  std::uint32_t& own = clocks_.back().back();
  own = std::max(own, merged.step);
  fragment.versions.push_back({merged.sync, ++merge_count_, copy_of(syncer())});
  forget_old(fragment);
}

void VectorClocks::on_lost(const tape::FragmentLost& lost) {
  std::erase_if(fragments_.at(lost.fragment).takes, [&](Take& take) {
    return take.sync == lost.sync && take.learner == lost.learner;
  });
}

void VectorClocks::on_adopted(const tape::FragmentAdopted& adopted) {
  Fragment& fragment = fragments_.at(adopted.fragment);
  const std::uint16_t learner = adopted.learner;
  const auto version = std::ranges::find_if(
      fragment.versions, [&](const Version& v) { return v.sync == adopted.sync; });
  if (version == fragment.versions.end()) {
    if (!fragment.forgot) {
      violation(fmt::format("learner {} receives version {} of fragment {} before it was sent", learner,
                            adopted.version, adopted.fragment));
    }
    return;
  }
  if (version->merge <= fragment.adopted.at(learner)) {
    violation(fmt::format("version {} of fragment {} reaches learner {} after a newer one",
                          adopted.version, adopted.fragment, learner));
  }
  overtaken_broadcasts_ += version->merge < newest_adopted_[learner];
  newest_adopted_[learner] = std::max(newest_adopted_[learner], version->merge);
  fragment.adopted[learner] = std::max(fragment.adopted[learner], version->merge);
  receive(learner, version->clock);
  forget_old(fragment);
}

void VectorClocks::on_copied(const tape::StateCopied& copied) {
  const auto sent = states_.find(copied.transfer);
  on_new_life(copied.receiver, copied.step);
  if (sent == states_.end()) {
    violation(fmt::format("learner {} receives a state that nobody sent", copied.receiver));
    return;
  }
  receive(copied.receiver, sent->second);
  spare_.push_back(std::move(sent->second));
  states_.erase(sent);
}

// A new life may stand at an earlier step than the old one: what others know of the old is void.
void VectorClocks::on_new_life(std::uint16_t learner, std::uint32_t step) {
  for (Clock& clock : clocks_) clock.at(learner) = std::min(clock.at(learner), step);
  clocks_[learner][learner] = step;
  newest_adopted_.at(learner) = 0;
  for (Fragment& fragment : fragments_) fragment.adopted[learner] = 0;
}

void VectorClocks::receive(std::size_t worker, const Clock& carried) {
  Clock& clock = clocks_[worker];
  for (std::size_t w = 0; w < clock.size(); ++w) {
    // What was sent before a worker's new life may be ahead of that life.
    if (w != worker) clock[w] = std::max(clock[w], std::min(carried[w], clocks_[w][w]));
  }
}

Watermark VectorClocks::watermark() const {
  Watermark mark;
  if (clocks_.empty()) return mark;
  std::vector<std::size_t> live = {syncer()};
  for (std::size_t m = 0; m < live_.size(); ++m) {
    if (live_[m]) live.push_back(m);
  }
  mark.live_workers = static_cast<std::uint32_t>(live.size());
  mark.step = UINT32_MAX;
  for (const std::size_t a : live) {
    for (const std::size_t b : live) mark.step = std::min(mark.step, clocks_[a][b]);
  }
  return mark;
}

void VectorClocks::violation(const std::string& text) {
  ++violation_count_;
  if (violations_.size() >= kViolationsKept) return;
  violations_.push_back(fmt::format("clocks at {} s: {}", base::format_seconds(now_), text));
}

void VectorClocks::forget_old(Fragment& fragment) {
  const std::uint64_t adopted_by_all = std::ranges::min(fragment.adopted);
  while (fragment.versions.size() > 1 && (fragment.versions.front().merge < adopted_by_all ||
                                          fragment.versions.size() > kVersionsKept)) {
    fragment.forgot = true;
    spare_.push_back(std::move(fragment.versions.front().clock));
    fragment.versions.pop_front();
  }
}

VectorClocks::Clock VectorClocks::copy_of(std::size_t worker) {
  Clock copy;
  if (!spare_.empty()) {
    copy = std::move(spare_.back());
    spare_.pop_back();
  }
  copy = clocks_.at(worker);
  return copy;
}

}  // namespace sim::readers

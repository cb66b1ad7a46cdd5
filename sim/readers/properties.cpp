// sim/readers/properties.cpp: see properties.h for the list of what must hold.
#include "sim/readers/properties.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace sim::readers {
namespace {

constexpr std::size_t kViolationsKept = 100;

}  // namespace

using tape::Kind;

Properties::Properties(const tape::RunShape& shape, std::uint32_t quorum)
    : shape_(shape),
      quorum_(quorum),
      learners_(shape.learners.size()),
      held_(shape.learners.size() * shape.fragment_parameters.size()),
      fragments_(shape.fragment_parameters.size()) {}

void Properties::violation(std::string text) {
  ++violation_count_;
  if (violations_.size() >= kViolationsKept) return;
  violations_.push_back(
      fmt::format("fact {} at {} s: {}", fact_number_, base::format_seconds(now_), text));
}

void Properties::on(const tape::Fact& fact) {
  ++fact_number_;
  const Nanoseconds before = std::exchange(now_, fact.at);
  if (fact.at < before) {
    violation(fmt::format("time goes back from {} s", base::format_seconds(before)));
  }
  switch (fact.kind) {
    case Kind::kStepsDone: return on_steps(fact.steps_done, fact.at);
    case Kind::kFragmentTaken: return on_taken(fact.fragment_taken);
    case Kind::kFragmentMerged: return on_merged(fact.fragment_merged);
    case Kind::kFragmentLost: return on_lost(fact.fragment_lost);
    case Kind::kFragmentAdopted: return on_adopted(fact.fragment_adopted);
    case Kind::kStateSent: return open(states_, fact.state_sent.transfer, "state");
    case Kind::kStateLost: return close(states_, fact.state_lost.transfer, "state");
    case Kind::kStateCopied: {
      const tape::StateCopied& copied = fact.state_copied;
      close(states_, copied.transfer, "state");
      return on_new_life(copied.receiver, copied.incarnation, copied.step);
    }
    case Kind::kRolledBack: {
      const tape::RolledBack& rollback = fact.rolled_back;
      ++sometimes_.rollbacks;
      return on_new_life(rollback.learner, rollback.incarnation, rollback.to_step);
    }
    case Kind::kGlobalRestored: return on_restored(fact.global_restored);
    case Kind::kFragmentKept: return on_kept(fact.fragment_kept);
    case Kind::kFragmentDropped: return on_dropped(fact.fragment_dropped);
    case Kind::kFragmentRestored: return on_gone_back(fact.fragment_restored);
    case Kind::kTransferStarted: return open(transfers_, fact.transfer_started.transfer, "transfer");
    case Kind::kTransferDone:
      sometimes_.broken_transfers += fact.transfer_done.status != tape::TransferStatus::kOk;
      return close(transfers_, fact.transfer_done.transfer, "transfer");
    case Kind::kFaultStarted: return open(faults_, fact.fault_started.fault, "fault");
    case Kind::kFaultEnded: return close(faults_, fact.fault_ended.fault, "fault");
    default: return;
  }
}

void Properties::on_steps(const tape::StepsDone& steps, Nanoseconds now) {
  Learner& learner = learners_.at(steps.learner);
  const Nanoseconds end = steps.start + steps.period * steps.count;
  if (steps.incarnation != learner.life) {
    violation(fmt::format("learner {} steps in life {}, its life is {}", steps.learner,
                          steps.incarnation, learner.life));
  }
  if (steps.first_step <= learner.last_step) {
    violation(fmt::format("learner {} does step {} again without a rollback; it had reached {}",
                          steps.learner, steps.first_step, learner.last_step));
  }
  if (steps.start < learner.stepped_until) {
    violation(fmt::format("steps of learner {} overlap: one begins at {} s, one ended at {} s",
                          steps.learner, base::format_seconds(steps.start),
                          base::format_seconds(learner.stepped_until)));
  }
  if (end > now) {
    violation(fmt::format("learner {} tells steps that end at {} s", steps.learner,
                          base::format_seconds(end)));
  }
  learner.stepped_until = std::max(learner.stepped_until, end);
  learner.last_step = steps.first_step + steps.count - 1;
}

void Properties::on_taken(const tape::FragmentTaken& taken) {
  Fragment& fragment = fragments_.at(taken.fragment);
  const bool twice = std::ranges::any_of(fragment.takes, [&](const Take& take) {
    return take.sync == taken.sync && take.learner == taken.learner;
  });
  if (twice) {
    violation(fmt::format("fragment {} of learner {} is taken twice for sync {}", taken.fragment,
                          taken.learner, taken.sync));
    return;
  }
  if (taken.incarnation != learners_.at(taken.learner).life) {
    violation(fmt::format("fragment {} is taken from life {} of learner {}, its life is {}",
                          taken.fragment, taken.incarnation, taken.learner,
                          learners_[taken.learner].life));
  }
  fragment.takes.push_back({taken.sync, taken.learner, taken.incarnation});
}

bool Properties::close_take(std::uint16_t fragment, std::uint32_t sync, std::uint16_t learner,
                            Take& take) {
  std::vector<Take>& takes = fragments_.at(fragment).takes;
  const auto found = std::ranges::find_if(
      takes, [&](const Take& t) { return t.sync == sync && t.learner == learner; });
  if (found == takes.end()) return false;
  take = *found;
  takes.erase(found);
  return true;
}

void Properties::on_merged(const tape::FragmentMerged& merged) {
  Fragment& fragment = fragments_.at(merged.fragment);
  if (merged.epoch < fragment.epoch) {
    violation(fmt::format("fragment {} goes back from epoch {} to {}", merged.fragment,
                          fragment.epoch, merged.epoch));
  } else if (merged.epoch == fragment.epoch && merged.version == fragment.version) {
    violation(fmt::format("version {} of fragment {} is merged twice", merged.version,
                          merged.fragment));
  } else if (merged.epoch == fragment.epoch && merged.version < fragment.version) {
    violation(fmt::format("fragment {} goes back from version {} to {}", merged.fragment,
                          fragment.version, merged.version));
  } else {
    fragment.epoch = merged.epoch;
    fragment.version = merged.version;
  }
  if (merged.contributor_count < quorum_) {
    violation(fmt::format("fragment {} is merged from {} learners, the quorum is {}",
                          merged.fragment, merged.contributor_count, quorum_));
  }
  for (std::uint32_t i = 0; i < merged.contributor_count; ++i) {
    check_contributor(merged, merged.contributors[i]);
  }
  sometimes_.merges_below_full += merged.contributor_count < learners_.size();
  for (const Take& take : fragment.takes) {
    if (take.sync == merged.sync) {
      violation(fmt::format("sync {} is merged without learner {}, whose take was not lost",
                            merged.sync, take.learner));
    }
  }
}

void Properties::check_contributor(const tape::FragmentMerged& merged,
                                   const tape::Contributor& contributor) {
  Learner& learner = learners_.at(contributor.learner);
  Take take{};
  if (!close_take(merged.fragment, merged.sync, contributor.learner, take)) {
    violation(fmt::format("sync {} merges fragment {} of learner {}, of which nothing was taken",
                          merged.sync, merged.fragment, contributor.learner));
  } else if (take.incarnation != contributor.incarnation || contributor.incarnation != learner.life) {
    violation(fmt::format("sync {} merges life {} of learner {}, taken in life {}; its life is {}",
                          merged.sync, contributor.incarnation, contributor.learner,
                          take.incarnation, learner.life));
  }
  sometimes_.merges_by_new_lives += learner.recovered;
  learner.recovered = false;
}

void Properties::on_lost(const tape::FragmentLost& lost) {
  ++sometimes_.lost_takes;
  Take take{};
  if (!close_take(lost.fragment, lost.sync, lost.learner, take)) {
    violation(fmt::format("sync {} loses fragment {} of learner {}, of which nothing was taken",
                          lost.sync, lost.fragment, lost.learner));
  }
}

void Properties::on_adopted(const tape::FragmentAdopted& adopted) {
  const Fragment& fragment = fragments_.at(adopted.fragment);
  Held& held = held_.at(adopted.learner * fragments_.size() + adopted.fragment);
  const std::pair now{std::uint32_t{adopted.epoch}, adopted.version};
  if (now > std::pair{fragment.epoch, fragment.version}) {
    violation(fmt::format("learner {} adopts version {} of fragment {}, which is not merged",
                          adopted.learner, adopted.version, adopted.fragment));
  }
  if (now < std::pair{held.epoch, held.version}) {
    violation(fmt::format("learner {} goes back from version {} of fragment {} to {}",
                          adopted.learner, held.version, adopted.fragment, adopted.version));
  }
  if (adopted.incarnation != learners_.at(adopted.learner).life) {
    violation(fmt::format("life {} of learner {} adopts a fragment, its life is {}",
                          adopted.incarnation, adopted.learner, learners_[adopted.learner].life));
  }
  held = {now.first, now.second};
}

void Properties::on_new_life(std::uint16_t index, std::uint32_t incarnation, std::uint32_t step) {
  Learner& learner = learners_.at(index);
  ++sometimes_.new_lives;
  if (incarnation <= learner.life) {
    violation(fmt::format("learner {} begins life {} after life {}", index, incarnation,
                          learner.life));
  }
  learner.life = incarnation;
  learner.last_step = step;
  learner.recovered = true;
  const std::size_t first = index * fragments_.size();
  for (std::size_t p = 0; p < fragments_.size(); ++p) held_[first + p] = {};
}

void Properties::on_restored(const tape::GlobalRestored& restored) {
  ++sometimes_.global_restores;
  for (std::size_t p = 0; p < fragments_.size(); ++p) {
    if (restored.epoch <= fragments_[p].epoch) {
      violation(fmt::format("epoch {} begins after epoch {}", restored.epoch, fragments_[p].epoch));
    }
    fragments_[p].epoch = restored.epoch;
    fragments_[p].version = 0;
    fragments_[p].kept.clear();
  }
}

void Properties::on_kept(const tape::FragmentKept& kept) {
  Fragment& fragment = fragments_.at(kept.fragment);
  if (kept.version != fragment.version || !fragment.kept.try_emplace(kept.shard, kept.version).second) {
    violation(fmt::format("shard {} keeps version {} of fragment {}, whose newest is {}", kept.shard,
                          kept.version, kept.fragment, fragment.version));
  }
}

void Properties::on_dropped(const tape::FragmentDropped& dropped) {
  if (fragments_.at(dropped.fragment).kept.erase(dropped.shard) == 0) {
    violation(fmt::format("shard {} drops a version of fragment {} that it does not keep",
                          dropped.shard, dropped.fragment));
  }
}

void Properties::on_gone_back(const tape::FragmentRestored& restored) {
  Fragment& fragment = fragments_.at(restored.fragment);
  ++sometimes_.global_restores;
  const auto kept = fragment.kept.find(restored.shard);
  if (kept == fragment.kept.end() || kept->second != restored.version) {
    violation(fmt::format("fragment {} goes back to version {} of shard {}, which does not keep it",
                          restored.fragment, restored.version, restored.shard));
  }
  if (restored.epoch <= fragment.epoch) {
    violation(fmt::format("epoch {} begins after epoch {}", restored.epoch, fragment.epoch));
  }
  fragment.epoch = restored.epoch;
  fragment.version = 0;
}

void Properties::open(std::set<std::uint32_t>& set, std::uint32_t id, const char* what) {
  if (!set.insert(id).second) violation(fmt::format("{} {} is opened twice", what, id));
}

void Properties::close(std::set<std::uint32_t>& set, std::uint32_t id, const char* what) {
  if (set.erase(id) == 0) violation(fmt::format("{} {} ends, but it is not open", what, id));
}

}  // namespace sim::readers

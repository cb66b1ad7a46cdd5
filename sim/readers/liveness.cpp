// sim/readers/liveness.cpp: see liveness.h.
#include "sim/readers/liveness.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace sim::readers {

using tape::FaultKind;
using tape::Kind;
using tape::TargetKind;

namespace {

constexpr std::size_t kStallsKept = 1000;

}  // namespace

std::string_view activity_in_words(tape::Activity activity) {
  static constexpr std::array<std::string_view, tape::kActivityCount> kWords = {
      "its contribution to be merged", "the detection of a loss", "a downscale", "an upscale",
      "a restart", "a checkpoint to be loaded", "a checkpoint to be saved", "a copy of a state",
      "a repair", "a merge", "the network", "nothing: it has finished"};
  return kWords.at(static_cast<std::size_t>(activity));
}

Liveness::Liveness(const tape::RunShape& shape, const LivenessOptions& options)
    : shape_(shape),
      options_(options),
      learners_(shape.learners.size()),
      fragments_(options.merges ? shape.fragment_parameters.size() : 0),
      activities_(shape.learners.size(), tape::Activity::kStepping),
      slice_failed_(shape.slices.size(), false),
      next_look_(options.bound) {}

void Liveness::on(const tape::Fact& fact) {
  if (options_.bound == base::kNever) return;
  now_ = fact.at;
  switch (fact.kind) {
    case Kind::kActivityChanged:
      activities_.at(fact.activity_changed.learner) = fact.activity_changed.activity;
      break;
    case Kind::kSliceChanged:
      slice_failed_.at(fact.slice_changed.slice) =
          fact.slice_changed.state == tape::SliceState::kFailed;
      break;
    case Kind::kStepsDone:
      if (!options_.merges) alive(learners_.at(fact.steps_done.learner));
      break;
    case Kind::kFragmentMerged: on_merge(fact.fragment_merged); break;
    case Kind::kFaultStarted: return on_fault(fact.fault_started);
    case Kind::kFaultEnded: return on_fault_end(fact.fault_ended.fault);
    case Kind::kRunEnded: return judge();
    default: break;
  }
  if (now_ >= next_look_) judge();
}

// A fault that comes later excuses nothing that was over before.
void Liveness::on_fault(const tape::FaultStarted& fault) {
  judge();
  open_.push_back({fault.fault, fault});
  quiet_since_ = now_;
}

void Liveness::on_fault_end(std::uint32_t fault) {
  std::erase_if(open_, [fault](const Fault& open) { return open.fault == fault; });
  quiet_since_ = now_;
}

void Liveness::on_merge(const tape::FragmentMerged& merged) {
  for (std::uint32_t i = 0; i < merged.contributor_count; ++i) {
    alive(learners_.at(merged.contributors[i].learner));
  }
  alive(fragments_.at(merged.fragment));
}

void Liveness::alive(Watched& watched) {
  watched.last = now_;
  if (watched.stall != kNone) stalls_[watched.stall].until = now_;
  watched.stall = kNone;
}

// Links for good at a part of their rate carry a copy that much more slowly.
Nanoseconds Liveness::stretched_bound() const {
  double factor = 1;
  for (const Fault& open : open_) {
    if (open.what.kind == FaultKind::kRateCut) factor = std::min(factor, open.what.rate_factor);
  }
  const double seconds = base::to_seconds(options_.bound) / std::max(factor, 1e-6);
  return seconds >= base::to_seconds(base::kNever) ? base::kNever : base::from_seconds(seconds);
}

void Liveness::judge() {
  next_look_ = now_ + std::max<Nanoseconds>(1, options_.bound / 4);
  const bool some_will_heal = std::ranges::any_of(
      open_, [](const Fault& open) { return open.what.lasts < base::kNever; });
  const Nanoseconds bound = stretched_bound();
  if (some_will_heal || now_ - quiet_since_ <= bound) return;
  const std::vector<bool> asked = asked_learners();
  const auto asked_count = static_cast<std::size_t>(std::ranges::count(asked, true));
  if (asked_count < std::max<std::uint32_t>(1, options_.quorum)) return;
  for (std::size_t m = 0; m < learners_.size(); ++m) {
    // A stretch of steps is told at its end only.
    if (!options_.merges && activities_[m] == tape::Activity::kStepping) alive(learners_[m]);
    if (!asked[m]) continue;
    judge(learners_[m], "learner " + shape_.learners[m].name,
          std::string(activity_in_words(activities_[m])), bound);
  }
  for (std::size_t p = 0; p < fragments_.size(); ++p) {
    judge(fragments_[p], fmt::format("fragment {}", p), "a merge", bound);
  }
}

void Liveness::judge(Watched& watched, const std::string& who, const std::string& waits_for,
                     Nanoseconds bound) {
  const Nanoseconds since = std::max(watched.last, quiet_since_);
  if (now_ - since <= bound || watched.stall != kNone || stalls_.size() >= kStallsKept) return;
  watched.stall = stalls_.size();
  stalls_.push_back({who, since, base::kNever, waits_for});
}

// Those that are up, in the part of the network that can merge: the syncer's, or the one with most of
// them.
std::vector<bool> Liveness::asked_learners() const {
  const std::vector<std::size_t> part = components();
  std::vector<bool> asked(learners_.size(), false);
  std::vector<std::size_t> count(shape_.regions.size() + 1, 0);
  for (std::size_t m = 0; m < learners_.size(); ++m) {
    asked[m] = is_up(m);
    if (asked[m]) ++count[part[shape_.learners[m].region]];
  }
  const auto most = static_cast<std::size_t>(std::ranges::max_element(count) - count.begin());
  const std::size_t merging = options_.center ? part[*options_.center] : most;
  for (std::size_t m = 0; m < learners_.size(); ++m) {
    asked[m] = asked[m] && part[shape_.learners[m].region] == merging;
  }
  return asked;
}

bool Liveness::is_up(std::size_t learner) const {
  const auto& slices = shape_.learners[learner].slices;
  const auto failed = std::ranges::count_if(slices, [&](auto s) { return slice_failed_[s]; });
  if (failed == std::ssize(slices) || (failed > 0 && !options_.elastic)) return false;
  // A shard that is down for good keeps its learner out; the central one, everybody.
  return std::ranges::none_of(open_, [&](const Fault& open) {
    return open.what.target_kind == TargetKind::kSyncer &&
           (options_.center || open.what.target == learner);
  });
}

// Of each region, a number that it shares with those that it can talk to; its own where it is down.
std::vector<std::size_t> Liveness::components() const {
  std::vector<bool> region_up(shape_.regions.size(), true), link_up(shape_.links.size(), true);
  for (const Fault& open : open_) {
    const tape::FaultStarted& fault = open.what;
    const bool breaks = fault.kind != FaultKind::kRateCut;
    if (breaks && fault.target_kind == TargetKind::kLink) link_up[fault.target] = false;
    if (breaks && fault.target_kind == TargetKind::kRegion) region_up[fault.target] = false;
  }
  std::vector<std::size_t> part(shape_.regions.size());
  for (std::size_t r = 0; r < part.size(); ++r) part[r] = r;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t l = 0; l < link_up.size(); ++l) {
      const auto a = shape_.links[l].region_a, b = shape_.links[l].region_b;
      if (!link_up[l] || !region_up[a] || !region_up[b] || part[a] == part[b]) continue;
      part[a] = part[b] = std::min(part[a], part[b]);
      changed = true;
    }
  }
  return part;
}

}  // namespace sim::readers

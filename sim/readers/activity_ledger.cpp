// sim/readers/activity_ledger.cpp: see activity_ledger.h for what a tape must keep.
#include "sim/readers/activity_ledger.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "sim/readers/step_pace.h"

namespace sim::readers {

using tape::Activity;
using tape::Kind;
using tape::SliceState;

namespace {

std::int64_t milliwatts_of(const tape::SliceShape& slice) { return slice.chips * slice.milliwatts; }

bool one_pace(const PaceGroup& a, const PaceGroup& b) {
  return a.island == b.island && a.step_time == b.step_time;
}

}  // namespace

void ActivityLedger::Segment::add(const PaceGroup& group) {
  chips += group.chips;
  milliwatts += group.milliwatts;
  const auto same =
      std::ranges::find_if(groups, [&](const PaceGroup& g) { return one_pace(g, group); });
  if (same == groups.end()) {
    groups.push_back(group);
    return;
  }
  same->chips += group.chips;
  same->slices += group.slices;
  same->milliwatts += group.milliwatts;
}

void ActivityLedger::Segment::remove(const PaceGroup& group) {
  chips -= group.chips;
  milliwatts -= group.milliwatts;
  const auto same =
      std::ranges::find_if(groups, [&](const PaceGroup& g) { return one_pace(g, group); });
  same->chips -= group.chips;
  same->slices -= group.slices;
  same->milliwatts -= group.milliwatts;
  if (same->slices == 0) groups.erase(same);
}

PaceGroup ActivityLedger::group_of(std::uint32_t index) const {
  const tape::SliceShape& slice = shape_.slices[index];
  return {shape_.steps_vary ? slice.island : 0, slice.step_time, slice.chips, 1,
          milliwatts_of(slice), 0};
}

ActivityLedger::ActivityLedger(const tape::RunShape& shape, ActivityGrid* grid)
    : shape_(shape), grid_(grid), learners_(shape.learners.size()), slices_(shape.slices.size()) {
  std::int64_t chips = 0;
  for (const tape::SliceShape& slice : shape.slices) {
    chips += slice.chips;
    fleet_milliwatts_ += milliwatts_of(slice);
    if (slice.learner != tape::kNoLearner) continue;
    unused_chips_ += slice.chips;
    unused_milliwatts_ += milliwatts_of(slice);
  }
  if (chips != shape.chips) {
    throw std::invalid_argument(
        fmt::format("the slices have {} chips, the fleet {}", chips, shape.chips));
  }
  for (std::size_t i = 0; i < learners_.size(); ++i) {
    Segment whole = {0, {}};
    for (const std::uint32_t slice : shape.learners[i].slices) whole.add(group_of(slice));
    learners_[i].open.push_back(whole);
  }
}

void ActivityLedger::on(const tape::Fact& fact) {
  switch (fact.kind) {
    case Kind::kStepsDone: return on_steps(fact.steps_done, fact.at);
    case Kind::kMemberComputed:
      return learners_.at(fact.member_computed.learner).told.push_back(fact.member_computed);
    case Kind::kActivityChanged: return on_activity(fact.activity_changed, fact.at);
    case Kind::kSliceChanged: return on_slice(fact.slice_changed, fact.at);
    case Kind::kStateCopied: return on_new_life(fact.state_copied.receiver, fact.at);
    case Kind::kCheckpointSaved: return on_checkpoint(fact.checkpoint_saved);
    case Kind::kGlobalRestored: return on_restored(fact.global_restored);
    case Kind::kRolledBack:
      on_rollback(fact.rolled_back);
      return on_new_life(fact.rolled_back.learner, fact.at);
    default: return;
  }
}

void ActivityLedger::on_steps(const tape::StepsDone& steps, Nanoseconds now) {
  Learner& learner = learners_.at(steps.learner);
  const Nanoseconds end = steps.start + steps.period * steps.count;
  if (!stepping(learner)) {
    throw std::logic_error(fmt::format("learner {} told steps at {} ns while it was not stepping",
                                       steps.learner, now));
  }
  if (steps.count == 0 || steps.period <= 0 || steps.compute < 0 || steps.compute > steps.period ||
      end > now) {
    throw std::logic_error(
        fmt::format("learner {} told a stretch at {} ns that cannot be: {} steps from {} ns, period "
                    "{} ns, compute {} ns",
                    steps.learner, now, steps.count, steps.start, steps.period, steps.compute));
  }
  if (steps.start < learner.open.front().from) {
    throw std::logic_error(fmt::format("learner {} told steps from {} ns, but its time up to {} ns "
                                       "is already accounted for",
                                       steps.learner, steps.start, learner.open.front().from));
  }
  close_open(learner, steps.start, Bucket::kInterruptedStep);
  const Nanoseconds slowest = slowest_of(learner.open.front().groups);
  StepPiece piece = {0, 0, steps.start, steps.period, steps.compute, steps.first_step, {}};
  const auto add = [&](Nanoseconds from, Nanoseconds to, const Segment& segment) {
    piece.from = from;
    piece.to = to;
    piece.groups = segment.groups;
    set_pace(piece.groups, steps.compute, slowest, learner.told);
    account_steps(learner, piece);
  };
  while (learner.open.size() > 1 && learner.open[1].from <= end) {
    if (learner.open[0].from < learner.open[1].from) {
      add(learner.open[0].from, learner.open[1].from, learner.open[0]);
    }
    learner.open.erase(learner.open.begin());
  }
  if (learner.open.front().from < end) add(learner.open.front().from, end, learner.open.front());
  learner.open.front().from = end;
  learner.told.clear();
}

void ActivityLedger::on_activity(const tape::ActivityChanged& change, Nanoseconds now) {
  Learner& learner = learners_.at(change.learner);
  const bool stepped = stepping(learner);
  close_open(learner, now, open_bucket(learner, Bucket::kInterruptedStep));
  learner.started = true;
  learner.activity = change.activity;
  const bool steps = stepping(learner);
  if (steps && !stepped && stepping_count_++ == 0) up_since_ = now;
  if (!steps && stepped && --stepping_count_ == 0) uptime_ += now - up_since_;
}

void ActivityLedger::on_slice(const tape::SliceChanged& change, Nanoseconds now) {
  Slice& slice = slices_.at(change.slice);
  const tape::SliceShape& slice_shape = shape_.slices[change.slice];
  if (slice_shape.learner == tape::kNoLearner) return;
  if (slice.state != SliceState::kJoined) {
    account(slice.state == SliceState::kFailed ? Bucket::kFailed : Bucket::kWaitingToJoin,
            slice.since, now, slice_shape.chips, milliwatts_of(slice_shape));
  }
  const int joins = (change.state == SliceState::kJoined) - (slice.state == SliceState::kJoined);
  slice = {change.state, now};
  if (joins == 0) return;
  Learner& learner = learners_[slice_shape.learner];
  if (!stepping(learner)) close_open(learner, now, open_bucket(learner, Bucket::kInterruptedStep));
  if (learner.open.back().from != now) {
    learner.open.push_back(learner.open.back());
    learner.open.back().from = now;
  }
  if (joins > 0) {
    learner.open.back().add(group_of(change.slice));
  } else {
    learner.open.back().remove(group_of(change.slice));
  }
}

void ActivityLedger::on_new_life(std::uint16_t index, Nanoseconds now) {
  Learner& learner = learners_.at(index);
  if (stepping(learner)) close_open(learner, now, Bucket::kInterruptedStep);
  std::ranges::copy(learner.kept, std::back_inserter(learner.kept_of_earlier_lives));
  learner.kept.clear();
}

void ActivityLedger::on_checkpoint(const tape::CheckpointSaved& saved) {
  const auto forget = [&saved](std::vector<StepPiece>& kept) {
    std::erase_if(kept,
                  [&](const StepPiece& piece) { return piece.to <= piece.end_of(saved.step); });
    for (StepPiece& piece : kept) piece.from = std::max(piece.from, piece.end_of(saved.step));
  };
  if (saved.learner != tape::kNoLearner) return forget(learners_.at(saved.learner).kept);
  for (Learner& learner : learners_) {
    forget(learner.kept);
    forget(learner.kept_of_earlier_lives);
  }
}

void ActivityLedger::on_rollback(const tape::RolledBack& rollback) {
  if (!shape_.may_roll_back) {
    throw std::logic_error("a rollback on a tape whose shape says that nothing is rolled back");
  }
  Learner& learner = learners_.at(rollback.learner);
  undo_kept(learner, learner.kept, rollback.to_step);
}

void ActivityLedger::undo_kept(Learner& learner, std::vector<StepPiece>& kept,
                               std::uint32_t to_step) {
  for (const StepPiece& piece : kept) {
    const Nanoseconds from = std::max(piece.from, piece.end_of(to_step));
    if (from < piece.to) undo_steps(learner, piece, from);
  }
  kept.clear();
}

// From a checkpoint: all steps that are not in it, whichever life did them.
void ActivityLedger::on_restored(const tape::GlobalRestored& restored) {
  if (restored.learner != tape::kNoLearner) return;
  for (Learner& learner : learners_) {
    undo_kept(learner, learner.kept, 0);
    undo_kept(learner, learner.kept_of_earlier_lives, 0);
  }
}

Bucket ActivityLedger::open_bucket(const Learner& learner, Bucket while_stepping) const {
  if (!learner.started) return Bucket::kStarting;
  return learner.activity == Activity::kStepping ? while_stepping : bucket_of(learner.activity);
}

void ActivityLedger::close_open(Learner& learner, Nanoseconds to, Bucket bucket) {
  while (learner.open.size() > 1 && learner.open[1].from <= to) {
    const Segment& first = learner.open[0];
    account(bucket, first.from, learner.open[1].from, first.chips, first.milliwatts);
    learner.open.erase(learner.open.begin());
  }
  Segment& segment = learner.open.front();
  if (segment.from < to) {
    account(bucket, segment.from, to, segment.chips, segment.milliwatts);
  }
  segment.from = std::max(segment.from, to);
}

void ActivityLedger::account(Bucket bucket, Nanoseconds from, Nanoseconds to, std::int64_t chips,
                             std::int64_t milliwatts) {
  totals_[bucket] += chip_time(chips, to - from);
  full_work_pj_[bucket] += chip_time(milliwatts, to - from);
  if (grid_ != nullptr) grid_->add(bucket, from, to, chips);
}

void ActivityLedger::account_steps(Learner& learner, const StepPiece& piece) {
  const StepShares chips = chip_shares(piece, piece.from, piece.to);
  const StepShares milliwatts = milliwatt_shares(piece, piece.from, piece.to);
  totals_[Bucket::kCompute] += chips.compute;
  totals_[Bucket::kWaitingForSlowest] += chips.waiting;
  totals_[Bucket::kExposedCommunication] += chips.exposed;
  full_work_pj_[Bucket::kCompute] += milliwatts.compute;
  full_work_pj_[Bucket::kWaitingForSlowest] += milliwatts.waiting;
  full_work_pj_[Bucket::kExposedCommunication] += milliwatts.exposed;
  learner.useful_time += static_cast<ChipNanoseconds>(mean_busy(piece, piece.from, piece.to));
  learner.useful_slice_time += slice_busy(piece, piece.from, piece.to);
  if (grid_ != nullptr) grid_->add_steps(piece);
  if (!shape_.may_roll_back) return;
  if (!learner.kept.empty() && learner.kept.back().continues_in(piece)) {
    learner.kept.back().to = piece.to;
  } else {
    learner.kept.push_back(piece);
  }
}

void ActivityLedger::undo_steps(Learner& learner, const StepPiece& piece, Nanoseconds from) {
  const StepShares chips = chip_shares(piece, from, piece.to);
  const StepShares milliwatts = milliwatt_shares(piece, from, piece.to);
  totals_[Bucket::kCompute] -= chips.compute;
  totals_[Bucket::kWaitingForSlowest] -= chips.waiting;
  totals_[Bucket::kExposedCommunication] -= chips.exposed;
  totals_[Bucket::kRolledBack] += chips.compute + chips.waiting + chips.exposed;
  full_work_pj_[Bucket::kCompute] -= milliwatts.compute;
  full_work_pj_[Bucket::kWaitingForSlowest] -= milliwatts.waiting;
  full_work_pj_[Bucket::kExposedCommunication] -= milliwatts.exposed;
  full_work_pj_[Bucket::kRolledBack] +=
      milliwatts.compute + milliwatts.waiting + milliwatts.exposed;
  rolled_back_stalled_pj_ += milliwatts.waiting + milliwatts.exposed;
  learner.useful_time -= static_cast<ChipNanoseconds>(mean_busy(piece, from, piece.to));
  learner.useful_slice_time -= slice_busy(piece, from, piece.to);
  if (grid_ != nullptr) grid_->undo_steps(piece, from);
}

// Calls interval(bucket, from, to, chips, milliwatts) for all that is open at `now`.
template <class Interval>
void ActivityLedger::each_open(Nanoseconds now, Interval interval) const {
  for (const Learner& learner : learners_) {
    const Bucket bucket = open_bucket(learner, Bucket::kUnfinishedStep);
    for (std::size_t i = 0; i < learner.open.size(); ++i) {
      const Nanoseconds to = i + 1 < learner.open.size() ? learner.open[i + 1].from : now;
      interval(bucket, learner.open[i].from, to, learner.open[i].chips, learner.open[i].milliwatts);
    }
  }
  for (std::size_t i = 0; i < slices_.size(); ++i) {
    if (slices_[i].state == SliceState::kJoined) continue;
    interval(slices_[i].state == SliceState::kFailed ? Bucket::kFailed : Bucket::kWaitingToJoin,
             slices_[i].since, now, shape_.slices[i].chips, milliwatts_of(shape_.slices[i]));
  }
  interval(Bucket::kUnused, 0, now, unused_chips_, unused_milliwatts_);
}

ActivityTotals ActivityLedger::snapshot(Nanoseconds now) const {
  ActivityTotals result;
  result.duration = now;
  result.buckets = totals_;
  result.full_work_pj = full_work_pj_;
  result.rolled_back_stalled_pj = rolled_back_stalled_pj_;
  each_open(now, [&](Bucket bucket, Nanoseconds from, Nanoseconds to, std::int64_t chips,
                     std::int64_t milliwatts) {
    result.buckets[bucket] += chip_time(chips, to - from);
    result.full_work_pj[bucket] += chip_time(milliwatts, to - from);
  });
  if (result.buckets.sum() != chip_time(shape_.chips, now)) {
    throw std::logic_error(fmt::format(
        "chip-seconds do not close at {} ns: the buckets hold {}, the fleet had {}", now,
        to_chip_seconds(result.buckets.sum()), to_chip_seconds(chip_time(shape_.chips, now))));
  }
  if (result.full_work_pj.sum() != chip_time(fleet_milliwatts_, now)) {
    throw std::logic_error(fmt::format("joules at full work do not close at {} ns", now));
  }
  for (std::size_t i = 0; i < learners_.size(); ++i) {
    const tape::LearnerShape& learner = shape_.learners[i];
    result.useful_chip_time +=
        static_cast<ChipNanoseconds>(learner.chips) * learners_[i].useful_time;
    result.useful_stepping_chip_time +=
        static_cast<double>(static_cast<ChipNanoseconds>(learner.chips) *
                            learners_[i].useful_slice_time) /
        static_cast<double>(learner.slices.size());
  }
  result.uptime = uptime_ + (stepping_count_ > 0 ? now - up_since_ : 0);
  return result;
}

ActivityGrid ActivityLedger::grid_at(Nanoseconds now) const {
  if (grid_ == nullptr) throw std::logic_error("the activity ledger was made without a grid");
  ActivityGrid result = *grid_;
  each_open(now, [&](Bucket bucket, Nanoseconds from, Nanoseconds to, std::int64_t chips,
                     std::int64_t) {
    result.add(bucket, from, to, chips);
  });
  return result;
}

}  // namespace sim::readers

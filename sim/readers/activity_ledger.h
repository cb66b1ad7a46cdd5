// sim/readers/activity_ledger.h: where every chip's every nanosecond went (law 3).
//
// What the ledger assumes of a tape:
//   - every slice starts joined; a learner is in bucket kStarting until its first ActivityChanged;
//   - StepsDone is told at or after the end of its steps, while the learner is still stepping, and
//     stretches of one learner come in time order without overlap;
//   - stepping time that no StepsDone covers is an interrupted step once the activity or the
//     incarnation changes or a later step begins; a change of membership alone does not break a
//     step (its finished step may still be told), and each part of it counts the chips it had;
//   - inside a step each joined slice computes for its own time (SliceShape::step_time, in proportion to
//     that of the slowest; MemberComputed where islands draw theirs) and waits for the slowest;
//   - RolledBack undoes the steps after its to_step that were told since the last CheckpointSaved of
//     this life. StateCopied puts the old life out of a later rollback's reach, but not out of that of
//     GlobalRestored from a checkpoint, which undoes all learners' steps since that was saved.
// A breach throws std::logic_error. State: O(learners + slices), plus the pieces of steps since the
// last checkpoint where the shape says that steps may be rolled back.
#pragma once

#include <vector>

#include "sim/readers/activity_grid.h"
#include "sim/tape/reader.h"
#include "sim/tape/run_shape.h"

namespace sim::readers {

// The account at one date.
struct ActivityTotals {
  Nanoseconds duration = 0;
  BucketTimes buckets;
  // Sum over learners of the learner's chips times its time inside useful steps, less the mean time that
  // its stepping chips waited in them for the slowest, ...
  ChipNanoseconds useful_chip_time = 0;
  // ... and the same with the share of its slices that stepped and did not wait, in chip-nanoseconds.
  double useful_stepping_chip_time = 0;
  Nanoseconds uptime = 0;  // at least one learner was in kStepping
  // The same times, each chip's weighted with its watts at full work. Milliwatts times nanoseconds
  // are picojoules; integers, so that they close like chip-time.
  BucketTimes full_work_pj;
  // The part of kRolledBack that was communication, or waiting for the slowest.
  ChipNanoseconds rolled_back_stalled_pj = 0;
};

class ActivityLedger : public tape::Reader {
 public:
  // `grid`, when not null, gets every interval as well. Shape and grid outlive the ledger.
  // Requires: chips of all slices sum to shape.chips; else std::invalid_argument.
  explicit ActivityLedger(const tape::RunShape& shape, ActivityGrid* grid = nullptr);

  void on(const tape::Fact& fact) override;

  // The account at `now`, not before the last fact. Throws std::logic_error unless the buckets sum
  // to chips x now exactly.
  ActivityTotals snapshot(Nanoseconds now) const;

  // The grid with what is still open at `now` added. Requires a grid at construction.
  ActivityGrid grid_at(Nanoseconds now) const;

 private:
  struct Segment {
    Nanoseconds from;
    std::vector<PaceGroup> groups;  // of joined slices, by island and step time
    std::int64_t chips = 0, milliwatts = 0;  // of all groups
    void add(const PaceGroup& group);
    void remove(const PaceGroup& group);
  };
  struct Learner {
    bool started = false;
    tape::Activity activity = tape::Activity::kStepping;
    std::vector<Segment> open;  // not accounted yet, ascending; the last one is the present
    std::vector<StepPiece> kept, kept_of_earlier_lives;
    std::vector<tape::MemberComputed> told;  // of the step that the next StepsDone tells
    ChipNanoseconds useful_time = 0;        // wall nanoseconds
    ChipNanoseconds useful_slice_time = 0;  // times slices that stepped
  };
  struct Slice {
    tape::SliceState state = tape::SliceState::kJoined;
    Nanoseconds since = 0;
  };

  bool stepping(const Learner& learner) const {
    return learner.started && learner.activity == tape::Activity::kStepping;
  }
  Bucket open_bucket(const Learner& learner, Bucket while_stepping) const;
  void on_steps(const tape::StepsDone& steps, Nanoseconds now);
  PaceGroup group_of(std::uint32_t slice) const;
  void on_activity(const tape::ActivityChanged& change, Nanoseconds now);
  void on_slice(const tape::SliceChanged& change, Nanoseconds now);
  void on_new_life(std::uint16_t learner, Nanoseconds now);
  void on_checkpoint(const tape::CheckpointSaved& saved);
  void on_rollback(const tape::RolledBack& rollback);
  void on_restored(const tape::GlobalRestored& restored);
  // Accounts the open time of a learner up to `to` and leaves the rest open.
  void close_open(Learner& learner, Nanoseconds to, Bucket bucket);
  void account(Bucket bucket, Nanoseconds from, Nanoseconds to, std::int64_t chips,
               std::int64_t milliwatts);
  void account_steps(Learner& learner, const StepPiece& piece);
  void undo_kept(Learner& learner, std::vector<StepPiece>& kept, std::uint32_t to_step);
  void undo_steps(Learner& learner, const StepPiece& piece, Nanoseconds from);
  template <class Interval>
  void each_open(Nanoseconds now, Interval interval) const;

  const tape::RunShape& shape_;
  ActivityGrid* grid_;
  std::vector<Learner> learners_;
  std::vector<Slice> slices_;
  BucketTimes totals_, full_work_pj_;
  ChipNanoseconds rolled_back_stalled_pj_ = 0;
  std::int64_t unused_chips_ = 0, unused_milliwatts_ = 0;
  std::int64_t fleet_milliwatts_ = 0;
  std::size_t stepping_count_ = 0;
  Nanoseconds up_since_ = 0;
  Nanoseconds uptime_ = 0;
};

}  // namespace sim::readers

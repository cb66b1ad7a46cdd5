// sim/methods/snapshot_round.cpp: see snapshot_round.h.
#include "sim/methods/snapshot_round.h"

#include <algorithm>

namespace sim::methods {

SnapshotRound::SnapshotRound(World& world, const Replicas& replicas)
    : world_(world), replicas_(replicas), parts_(replicas.size(), Part::kLeftOut) {}

void SnapshotRound::at_step(std::uint32_t step) {
  const std::int64_t every = world_.training.snapshot.every;
  if (every == 0 || step % every != 0) return;
  if (open_) world_.say(tape::SnapshotEnded{number_, 0});
  open_ = true;
  ++number_;
  for (const auto& replica : replicas_) {
    parts_[replica->job.learner()] = replica->has_state ? Part::kNotReached : Part::kLeftOut;
  }
  world_.say(tape::SnapshotBegun{number_, step});
  end_if_complete();
}

void SnapshotRound::marker_reached(const Replica& replica, std::uint32_t snapshot) {
  Part& part = parts_[replica.job.learner()];
  if (!open_ || snapshot != number_ || part != Part::kNotReached) return;
  part = Part::kSaved;
  world_.say(tape::SnapshotSaved{number_, replica.job.step(), replica.job.learner(),
                                 replica.job.incarnation()});
  end_if_complete();
}

std::uint32_t SnapshotRound::marker_of(const Replica& replica) const {
  return open_ && parts_[replica.job.learner()] == Part::kSaved ? number_ : 0;
}

void SnapshotRound::marker_returned(const Replica& replica, std::uint32_t snapshot) {
  Part& part = parts_[replica.job.learner()];
  if (!open_ || snapshot != number_ || part != Part::kSaved) return;
  part = Part::kAnswered;
  end_if_complete();
}

void SnapshotRound::learner_failed(const Replica& replica) {
  Part& part = parts_[replica.job.learner()];
  if (!open_) return;
  // What was saved stays saved; who had not, never will.
  if (!replica.has_state && part == Part::kNotReached) part = Part::kLeftOut;
  end_if_complete();
}

void SnapshotRound::end_if_complete() {
  if (!open_) return;
  for (const auto& replica : replicas_) {
    const Part part = parts_[replica->job.learner()];
    const bool silent = replica->out || !replica->has_state;
    if (part == Part::kNotReached || (part == Part::kSaved && !silent)) return;
  }
  open_ = false;
  world_.say(tape::SnapshotEnded{number_, 1});
}

}  // namespace sim::methods

// sim/trainer/snapshot.cpp: see snapshot.h.
#include "sim/trainer/snapshot.h"

namespace sim::trainer {

void SnapshotCut::on(const tape::Fact& fact) {
  switch (fact.kind) {
    case tape::Kind::kSnapshotBegun:
      syncer_is_past_ = syncer_is_past_ || fact.snapshot_begun.snapshot == number_;
      return;
    case tape::Kind::kSnapshotSaved:
      if (fact.snapshot_saved.snapshot == number_) past_.at(fact.snapshot_saved.learner) = true;
      return;
    case tape::Kind::kStateCopied:
      // A learner that had not saved had lost its state: nothing of its old life crosses the cut.
      if (syncer_is_past_) past_.at(fact.state_copied.receiver) = true;
      return;
    case tape::Kind::kSnapshotEnded:
      if (fact.snapshot_ended.snapshot == number_) past_.assign(past_.size(), true);
      return;
    default: return;
  }
}

}  // namespace sim::trainer

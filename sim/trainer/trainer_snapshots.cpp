// sim/trainer/trainer_snapshots.cpp: how a trainer gathers snapshots, and goes on from one.
//
// A snapshot shares the blocks that nodes have written; only momentum, which the next merge changes in
// place, is copied. So gathering one costs memory, and no time worth speaking of.
#include <fmt/format.h>

#include <stdexcept>

#include "sim/trainer/trainer.h"

namespace sim::trainer {

void Trainer::go_on_from(const Snapshot& snapshot) {
  if (snapshot.learners.size() != learners_.size()) {
    throw std::invalid_argument(fmt::format("a snapshot of {} learners, expected {}",
                                            snapshot.learners.size(), learners_.size()));
  }
  global_.resume(snapshot.fragments);
  for (std::size_t m = 0; m < learners_.size(); ++m) {
    const Snapshot::Learner& saved = snapshot.learners[m];
    Learner& learner = learners_[m];
    // Who lost its state must not be able to go on without another's.
    learner.state = saved.state ? saved.state->state : LearnerState{};
    if (saved.state && saved.state->state.parameters.size() != model_->block_size()) {
      throw std::invalid_argument(fmt::format("learner {} of the snapshot has another size", m));
    }
    learner.checkpoint = saved.checkpoint;
    learner.checkpoint_step = saved.checkpoint_step;
  }
  evaluations_ = snapshot.evaluations;
  marks_ = snapshot.marks;
  diverged_ = snapshot.diverged;
  if (!diverged_ && !evaluations_.empty()) last_loss_ = evaluations_.back().loss;
  convergence_ = snapshot.convergence;
  merge_count_ = snapshot.merge_count;
  model_is_evaluated_ = snapshot.model_is_evaluated;
  resumed_cut_ = std::make_unique<SnapshotCut>(snapshot.number, learners_.size());
}

void Trainer::begin_snapshot(const tape::SnapshotBegun& fact) {
  gathered_ = nullptr;
  const bool is_resumed = options_.resume && options_.resume->number >= fact.snapshot;
  if (!options_.on_snapshot || is_resumed) return;
  flush();
  gathered_ = std::make_unique<Gathered>(
      Gathered{SnapshotCut(fact.snapshot, learners_.size()), Snapshot{}});
  gathered_->cut.on({0, fact});
  Snapshot& snapshot = gathered_->snapshot;
  snapshot.number = fact.snapshot;
  snapshot.step = fact.step;
  snapshot.fragments = global_.cut();
  snapshot.learners.resize(learners_.size());
  // All that is open was sent before the syncer's cut and every learner's.
  for (const auto& [key, take] : takes_) snapshot.takes.emplace(key, take.block);
  for (const auto& [transfer, sent] : transfers_) snapshot.transfers.emplace(transfer, sent.state);
  snapshot.evaluations = evaluations_;
  snapshot.marks = marks_;
  snapshot.diverged = diverged_;
  snapshot.convergence = convergence_;
  snapshot.merge_count = merge_count_;
  snapshot.model_is_evaluated = model_is_evaluated_;
}

void Trainer::save_learner(const tape::SnapshotSaved& fact) {
  if (!gathered_ || gathered_->snapshot.number != fact.snapshot) return;
  Learner& learner = at(fact.learner);
  gathered_->snapshot.learners[fact.learner] = {read_state(learner), learner.checkpoint,
                                                learner.checkpoint_step};
}

void Trainer::end_snapshot(const tape::SnapshotEnded& fact) {
  if (!gathered_ || gathered_->snapshot.number != fact.snapshot) return;
  const std::unique_ptr<Gathered> gathered = std::move(gathered_);
  if (fact.complete == 0) return;
  flush();
  options_.on_snapshot(gathered->snapshot);
}

}  // namespace sim::trainer

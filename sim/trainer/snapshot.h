// sim/trainer/snapshot.h: all that the mathematics of a run needs to go on from a consistent cut.
//
// Every worker has its own cut: the syncer where the snapshot begins, a learner where it saves. What was
// sent before the sender's cut and is received after the receiver's is in flight, and part of the
// snapshot: takes, copies of states, and the versions that learners have yet to adopt.
// Source: arXiv:2604.21428, Appendix E.2.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <optional>
#include <tuple>
#include <vector>

#include "sim/tape/fact.h"
#include "sim/trainer/convergence.h"
#include "sim/trainer/evaluation.h"
#include "sim/trainer/global_model.h"
#include "sim/trainer/learner_state.h"

namespace sim::trainer {

// Sync, fragment, learner.
using TakeKey = std::tuple<std::uint32_t, std::uint16_t, std::uint16_t>;

struct Snapshot {
  struct Learner {
    // Null: the learner had lost its state and goes on when it has copied another's.
    std::shared_ptr<SharedState> state;
    std::shared_ptr<SharedState> checkpoint;  // null: none
    std::uint32_t checkpoint_step = 0;
  };

  std::uint32_t number = 0;  // as in the facts
  std::uint32_t step = 0;    // the syncer's
  std::vector<GlobalModel::FragmentCut> fragments;  // (P)
  std::vector<Learner> learners;                    // (M)
  std::map<TakeKey, std::shared_ptr<SharedBlock>> takes;                // in flight
  std::map<std::uint32_t, std::shared_ptr<SharedState>> transfers;      // in flight, by transfer
  std::map<std::uint16_t, std::shared_ptr<SharedBlock>> restores;       // in flight, by epoch

  // Results at the syncer's cut, so that a resumed run's files are whole.
  std::vector<Evaluation> evaluations;
  std::vector<MarkLoss> marks;
  std::optional<Divergence> diverged;
  ConvergenceRecord convergence{};
  std::uint64_t merge_count = 0;
  bool model_is_evaluated = false;
};

// On which side of a snapshot's cut each worker is while the tape passes by.
class SnapshotCut {
 public:
  SnapshotCut(std::uint32_t number, std::size_t learners) : number_(number), past_(learners, false) {}

  // Call before the fact is folded.
  void on(const tape::Fact& fact);

  bool syncer_is_past() const { return syncer_is_past_; }
  bool is_past(std::uint16_t learner) const { return past_.at(learner); }

 private:
  std::uint32_t number_;
  bool syncer_is_past_ = false;
  std::vector<bool> past_;  // (M)
};

}  // namespace sim::trainer

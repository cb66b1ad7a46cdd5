// sim/trainer/trainer.h: the reader that folds a tape into real parameters.
//
// It is lazy: facts become nodes of a task graph, and the graph runs when enough has gathered, when
// somebody asks, or at the end. It is parallel: learners, merges and evaluations run on several
// threads, and the bits are the same for any number of them (design section 1).
//
// What each learner does is a chain, in tape order. A merge waits for its takes and for the
// fragment's previous merge; an adoption waits for its merge; an evaluation reads the versions that
// were current at its place on the tape.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "optim/inner_optimizer.h"
#include "optim/merge.h"
#include "optim/model.h"
#include "optim/outer_optimizer.h"
#include "optim/task.h"
#include "sim/tape/reader.h"
#include "sim/tape/run_shape.h"
#include "sim/trainer/convergence.h"
#include "sim/trainer/evaluation.h"
#include "sim/trainer/global_model.h"
#include "sim/trainer/learner_state.h"
#include "sim/trainer/learning_options.h"
#include "sim/trainer/membership.h"
#include "sim/trainer/snapshot.h"
#include "sim/trainer/step_runner.h"
#include "sim/trainer/task_graph.h"

namespace sim::trainer {

struct TrainerOptions {
  LearningOptions learning;
  optim::InnerOptions inner;
  optim::OuterOptions outer;
  optim::MergeOptions merge;
  double mixing;        // alpha: weight of the local value at adoption, in [0, 1]
  optim::WireFormat wire;
  Anchor anchor;
  std::uint64_t seed;   // of initial parameters and of all examples
  std::size_t threads;  // > 0; no thread is started before the first flush, and none for 1
  // Told every snapshot that becomes complete; empty: none is gathered. What it throws passes on().
  std::function<void(const Snapshot&)> on_snapshot = {};
  // Where to go on from; null: the beginning. The tape still comes from its first fact: what a worker
  // did before its own cut is passed over.
  std::shared_ptr<const Snapshot> resume = nullptr;
};

class Trainer : public tape::Reader {
 public:
  // Keeps a reference to the shape, which outlives it.
  // Errors: std::invalid_argument: learning.model.kind is kNone, no learner, batch differs from
  //         shape.slots, mixing outside [0, 1], more fragments than the model has rows, a snapshot to
  //         resume of another model, P or M.
  Trainer(const tape::RunShape& shape, const TrainerOptions& options);
  // With a model and a task that no option names; what the options say of them is not looked at.
  Trainer(const tape::RunShape& shape, const TrainerOptions& options,
          std::unique_ptr<optim::Model> model, std::unique_ptr<optim::Task> task);

  // Errors: std::logic_error for a fact that breaks the tape's rules (a merge whose contributors
  //         are not its takes, an adoption of an unknown version, ...); whatever a task throws.
  void on(const tape::Fact& fact) override;

  // Computes all that has been read so far.
  void flush();
  // The same, for good: takes and transfers that the run's end cut off are dropped.
  void finish();

  // Results, as far as computed: after flush() everything read, else less.
  double initial_loss() const { return initial_loss_; }  // NaN before the first flush
  const std::vector<Evaluation>& evaluations() const { return evaluations_; }
  // Whether and when the loss ceased to be a number. Evaluations and marks are those before it.
  const std::optional<Divergence>& diverged() const { return diverged_; }
  // Of the last evaluation; NaN before the first and once the model has diverged.
  double last_loss() const { return last_loss_; }
  const std::vector<MarkLoss>& marks() const { return marks_; }
  const ConvergenceRecord& convergence() const { return convergence_; }
  // NaN where unknown; see optim::Task.
  double loss_floor() const { return task_->held_out_floor(); }
  std::size_t proxy_parameters() const { return model_->parameter_count(); }

  // A copy of the global parameters now (block_size); computes what they need.
  optim::AlignedBlock global_parameters();
  // A learner's parameters and inner state now. The reference holds until the next fact.
  const LearnerState& learner(std::uint16_t index);

  // What waits to be closed by a later fact: takes, state transfers, versions for adoption.
  std::size_t open_items() const;

 private:
  // In which order a learner's doings may share one node: what others wait for comes last, so that
  // a node with a take in it is not held up by later steps, and no cycle can arise.
  enum class Phase : std::uint8_t { kReceiving, kStepping, kReading };
  struct Learner {
    LearnerState state;  // touched by nodes only
    NodeId last = kNoNode;
    Phase phase = Phase::kReading;
    std::shared_ptr<std::vector<StepRun>> open_runs;  // of the last node, while it can grow
    std::shared_ptr<SharedState> checkpoint;
    std::vector<GlobalModel::Version> checkpoint_received;
    std::uint32_t checkpoint_step = 0;
  };
  struct Take {
    std::shared_ptr<SharedBlock> block;  // null: taken before the cut, and merged before it too
    GlobalModel::Version anchor;         // null: that of the merge
    std::uint16_t incarnation;
  };
  // A state on its way, with what its giver has received of the global model.
  struct StateTransfer {
    std::shared_ptr<SharedState> state;
    std::vector<GlobalModel::Version> received;
  };
  struct PendingEvaluation {
    Evaluation evaluation;
    std::uint32_t step;      // see Divergence
    bool is_mark, is_fresh;  // not fresh: the model is the one evaluated before
    tape::MarkKind mark;
  };

  void on(const tape::StepsDone& fact);
  void on(const tape::FragmentTaken& fact);
  void on(base::Nanoseconds at, const tape::FragmentMerged& fact);
  void on(const tape::FragmentLost& fact);
  void on(const tape::FragmentAdopted& fact);
  void on(const tape::BroadcastChanged& fact);
  void on(const tape::StateSent& fact);
  void on(const tape::StateCopied& fact);
  void on(const tape::StateLost& fact);
  void on(const tape::CheckpointSaved& fact);
  void on(const tape::RolledBack& fact);
  void on(const tape::FragmentRestored& fact);
  void on(const tape::GlobalRestored& fact);
  void restore_global_from(const tape::GlobalRestored& fact);
  void evaluate(base::Nanoseconds at, std::uint64_t tokens, const tape::MarkKind* mark);

  Learner& at(std::uint16_t learner);
  NodeId chain(Learner& learner, Phase phase, std::vector<NodeId> after, Task task);
  void overwrite(std::uint16_t learner, std::shared_ptr<const SharedState> source);
  std::shared_ptr<SharedState> read_state(Learner& learner);
  std::shared_ptr<SharedBlock> read_parameters(Learner& learner);
  std::shared_ptr<SharedState> read_global_state();
  std::shared_ptr<SharedBlock> current_global();
  void model_changed_by(std::uint16_t learner);
  void collect();
  void collect(PendingEvaluation& pending);

  // Snapshots (trainer_snapshots.cpp).
  void go_on_from(const Snapshot& snapshot);
  void begin_snapshot(const tape::SnapshotBegun& fact);
  void save_learner(const tape::SnapshotSaved& fact);
  void end_snapshot(const tape::SnapshotEnded& fact);
  // Whether this worker's facts count: false while the tape passes what lies before its cut.
  bool syncer_counts() const { return !resumed_cut_ || resumed_cut_->syncer_is_past(); }
  bool counts(std::uint16_t learner) const {
    return !resumed_cut_ || resumed_cut_->is_past(learner);
  }
  // Whether what this learner sends now crosses the cut of the snapshot that is being gathered.
  bool crosses_cut(std::uint16_t learner) const {
    return gathered_ && !gathered_->cut.is_past(learner);
  }

  const tape::RunShape& shape_;
  TrainerOptions options_;
  std::unique_ptr<optim::Model> model_;
  std::unique_ptr<optim::Task> task_;
  std::shared_ptr<SharedState> initial_;
  StepRunner runner_;
  Membership membership_;
  std::vector<Learner> learners_;  // never resized, nodes point into it
  std::map<TakeKey, Take> takes_;
  std::map<std::uint32_t, StateTransfer> transfers_;

  double initial_loss_;
  bool model_is_evaluated_ = false;  // since the global model changed last
  std::uint64_t merge_count_ = 0;
  std::uint64_t facts_gathered_ = 0;
  std::deque<PendingEvaluation> pending_evaluations_;  // nodes point into these two
  std::deque<ConvergenceRow> pending_rows_;
  std::uint32_t last_step_ = 0;
  double last_loss_;
  std::optional<Divergence> diverged_;
  std::vector<Evaluation> evaluations_;
  std::vector<MarkLoss> marks_;
  ConvergenceRecord convergence_;

  struct Gathered {
    SnapshotCut cut;
    Snapshot snapshot;
  };
  std::unique_ptr<Gathered> gathered_;        // the snapshot that is open
  std::unique_ptr<SnapshotCut> resumed_cut_;  // null: the run began at its beginning

  // The last members: their end joins threads whose nodes point into the others.
  TaskGraph graph_;
  GlobalModel global_;
  std::vector<GlobalModel::Version> initial_received_;  // what every learner starts from
};

}  // namespace sim::trainer

// sim/methods/barrier_syncs.h: where learners without a syncer meet: takes, all-reduces, merges.
//
// A fragment's sync opens when the first learner finishes the step at which it is due, and runs when
// every learner that is waited for has arrived there: a barrier. Then the learners all-reduce their
// outer gradients among themselves, inside regions and in a ring over the regions, and each applies
// the same outer step to its own copy of the global fragment.
//
// Who is waited for (on_loss): wait: all; skip and stale: those that are there and can be reached. An
// all-reduce that loses a member or a link runs again among those that are left; a take whose learner
// died is lost. Regions meet where links join them, directly or through others: the group with most
// learners. Who is outside of it keeps its own parameters, where the policy lets the others go on.
// A learner that copied a peer takes part without a say until it has received a version itself: what
// it holds is the donor's progress, which the donor brings.
// Source: DiLoCo, arXiv:2311.08105, Algorithm 1; Streaming DiLoCo, arXiv:2501.18512. What happens on
// failures is ours, after torchft and INTELLECT-1 (facts (l), (m)).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/methods/replica.h"

namespace sim::methods {

class BarrierSyncs {
 public:
  BarrierSyncs(World& world, Replicas& replicas);

  // The learner stands after its last finished step and takes part in every sync that is due there.
  // Doing it again at the same step changes nothing.
  void arrive(Replica& replica);
  // A sync must end before the learner's next step. late = skip: it gives up on it instead.
  bool holds_back(const Replica& replica);
  // Own steps until the learner arrives at a barrier or must adopt; at least 1.
  std::uint32_t steps_until_next(const Replica& replica) const;

  // Who is there has changed.
  void look_again() { changed_.notify(); }
  // What can be reached has changed.
  void network_changed();
  // What was taken from the learner is gone with its state.
  void lose_takes(const Replica& replica);
  const std::vector<std::uint32_t>& versions() const { return versions_; }
  std::uint16_t epoch() const { return epoch_; }

  // Global checkpoints, saved at the first merge that is due by the clock: fragments and outer
  // momentum, without inner state (assumed). How many there were so far.
  std::uint32_t checkpoint_count() const { return checkpoint_count_; }
  // Nobody holds a state any more: the last checkpoint (or the initial state) becomes the global one.
  // Returns its step, from which training goes on.
  std::uint32_t restore_checkpoint();

 private:
  struct Take {
    std::uint16_t learner, incarnation;
    double weight;
  };
  struct Sync {
    std::uint32_t id, step;
    std::uint16_t fragment;
    std::vector<Take> takes;        // ascending by learner
    std::vector<bool> arrived;      // (M)
    std::vector<bool> given_up;     // (M); too late for this learner
    bool reducing = false;
    bool broken = false;            // lost a member while reducing
    bool abandoned = false;         // training has gone back to before it
  };

  engine::Process run(Sync& sync);
  engine::Task<tape::TransferStatus> all_reduce(Sync& sync);
  Sync* find(std::uint16_t fragment, std::uint32_t step);
  Sync& open(std::uint16_t fragment, std::uint32_t step);
  void join(Sync& sync, Replica& replica);
  void skip(std::uint16_t fragment, std::uint32_t step, tape::LossReason reason);
  bool ready(const Sync& sync) const;
  bool awaits(const Sync& sync, const Replica& replica) const;
  bool sits_out(const Replica& replica, std::uint16_t fragment) const;
  bool receives(const Sync& sync, const Replica& replica) const;
  std::vector<std::uint16_t> regions_of(const Sync& sync) const;
  std::vector<std::uint16_t> find_meeting() const;
  // The region can take part in an all-reduce now.
  bool meets(std::uint16_t region) const;
  void drop_unreachable(Sync& sync);
  void publish(const Sync& sync);
  void save_checkpoint_if_due(std::uint32_t step);
  void close(const Sync& sync);
  engine::Turn decision() const { return {engine::Priority::kDecision, 0}; }

  World& world_;
  Replicas& replicas_;
  engine::Signal changed_;
  std::vector<std::uint16_t> meeting_;       // regions that can all-reduce with each other, ascending
  std::vector<std::unique_ptr<Sync>> open_;  // in order of opening
  std::vector<std::uint32_t> versions_;      // of each fragment, (P)
  std::vector<std::uint32_t> closed_step_;   // newest step whose sync has ended or was skipped, (P)
  std::uint32_t next_sync_ = 0;
  std::uint32_t checkpoint_count_ = 0, saved_step_ = 0;
  Nanoseconds next_checkpoint_ = base::kNever;
  std::uint16_t epoch_ = 1;
};

}  // namespace sim::methods

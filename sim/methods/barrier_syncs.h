// sim/methods/barrier_syncs.h: where learners without a syncer meet: takes, all-reduces, merges.
//
// A fragment's sync opens when the first learner finishes the step at which it is due, and runs when
// every learner that is waited for has arrived there: a barrier. Then the learners all-reduce their
// outer gradients among themselves, inside regions and in a ring over the regions, and each applies
// the same outer step to its own copy of the global fragment.
//
// Who is waited for (on_loss): wait: all; else those that are believed to be there (roll_call.h). An
// all-reduce that loses a member or a link breaks at once, but its other members hang: `timeout` in any
// case, and `detection` since a member died; then it runs again among those that are left. A take whose
// learner's state is gone is lost; one whose hosts still hold it is brought by them, and they receive the
// result. Regions meet where links join them, directly or through others: the group with most
// learners. Who is outside of it keeps its own parameters, where the policy lets the others go on.
// Members receive the result as part of the all-reduce; who began to listen while it ran, from the
// nearest member afterwards.
// A learner that copied a peer takes part without a say until it has received a version itself: what
// it holds is the donor's progress, which the donor brings.
// Source: DiLoCo, arXiv:2311.08105, Algorithm 1; Streaming DiLoCo, arXiv:2501.18512. What happens on
// failures is ours, after torchft and INTELLECT-1 (facts (l), (m)).
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include "sim/methods/replica.h"
#include "sim/methods/roll_call.h"

namespace sim::methods {

class BarrierSyncs {
 public:
  BarrierSyncs(World& world, Replicas& replicas);

  // The learner stands after its last finished step and takes part in every sync that is due there.
  // Doing it again at the same step changes nothing.
  void arrive(Replica& replica);
  // A sync must end before the learner's next step. late = skip: it gives up on it instead.
  bool holds_back(const Replica& replica);
  // A later sync of a fragment that is due now is over: the learner is a period behind the others.
  bool is_behind(const Replica& replica) const;
  // Own steps until the learner arrives at a barrier or must adopt; at least 1.
  std::uint32_t steps_until_next(const Replica& replica) const;

  // The learner went or came back.
  void learner_changed(const Replica& replica);
  // What can be reached has changed.
  void network_changed();
  // What was taken from the learner is gone with its state.
  void lose_takes(const Replica& replica);
  // A copy of a state brought the global fragments along.
  void state_brought(std::uint16_t source_region, std::uint16_t target_region);

  // The others have not noticed that it is gone.
  bool is_expected(const Replica& replica) const { return roll_.expects_learner(replica); }
  // An all-reduce that runs now brings what was taken from it.
  bool is_contributing(const Replica& replica) const;
  // Has received the newest version of every fragment.
  bool is_current(const Replica& replica) const;
  // Nothing of the round that is under way will be merged: its syncs may be opened again.
  void abandon_round();
  // Of the newest merge: the step with which the present round began.
  std::uint32_t merged_step() const { return merged_step_; }
  const std::vector<std::uint32_t>& versions() const { return versions_; }
  std::uint16_t epoch() const { return epoch_; }

  // Global checkpoints, saved at the first merge that is due by the clock: fragments and outer
  // momentum, without inner state (assumed). How many there were so far.
  std::uint32_t checkpoint_count() const { return checkpoint_count_; }
  // Nobody holds a state any more: the last checkpoint (or the initial state) becomes the global one.
  // Returns its step, from which training goes on.
  std::uint32_t restore_checkpoint();
  // Some hold a state, and none of them the newest versions: those are gone with their last holder.
  bool newest_is_gone() const;
  // That learner's parameters become the global ones, with zero outer momentum.
  void go_on_with(const Replica& replica);

 private:
  struct Take {
    std::uint16_t learner, incarnation;
    double weight;
  };
  enum class Reduction : std::uint8_t { kNone, kRuns, kDone, kBroken };
  struct Sync {
    std::uint32_t id, step;
    std::uint16_t fragment;
    std::vector<Take> takes;        // ascending by learner
    std::vector<bool> arrived;      // (M)
    std::vector<bool> given_up;     // (M); too late for this learner
    std::vector<bool> members;      // (M); of the all-reduce that runs
    Reduction reduction = Reduction::kNone;
    Nanoseconds hangs_until = 0;    // the members of a broken all-reduce have not given it up before
    bool abandoned = false;         // training has gone back to before it
  };

  engine::Process run(Sync& sync);
  // Whether it was done; else broken.
  engine::Task<bool> reduce(Sync& sync);
  engine::Process carry(Sync& sync);
  engine::Process deliver(Replica& replica, Broadcast broadcast, std::uint16_t source);
  Sync* find(std::uint16_t fragment, std::uint32_t step);
  Sync& open(std::uint16_t fragment, std::uint32_t step);
  void join(Sync& sync, Replica& replica);
  void skip(std::uint16_t fragment, std::uint32_t step, tape::LossReason reason);
  bool ready(const Sync& sync) const;
  bool awaits(const Sync& sync, const Replica& replica) const;
  bool sits_out(const Replica& replica, std::uint16_t fragment) const;
  // Would get the result of an all-reduce that begins now. Also who has given it up: it keeps the global
  // fragment up to date, and only its own parameters as they are.
  bool receives(const Replica& replica) const;
  void call_members(Sync& sync) const;
  std::vector<std::uint16_t> regions_of(const Sync& sync) const;
  Nanoseconds local_time(const Sync& sync, const std::vector<std::uint16_t>& regions) const;
  void hang(Sync& sync, Nanoseconds duration);
  void drop_unreachable(Sync& sync);
  void publish(const Sync& sync);
  void hand_out(const Sync& sync, std::uint32_t version);
  std::uint16_t nearest_member_region(const Sync& sync, std::uint16_t target) const;
  void save_checkpoint_if_due(std::uint32_t step);
  void abandon_syncs_after(std::uint32_t step);
  void begin_epoch();
  bool newest_is_there(const Sync& sync) const;
  engine::Task<> bring_newest(Sync& sync);
  void close(const Sync& sync);
  engine::Turn decision() const { return {engine::Priority::kDecision, 0}; }

  World& world_;
  Replicas& replicas_;
  engine::Signal changed_;
  RollCall roll_;
  std::vector<std::unique_ptr<Sync>> open_;  // in order of opening
  std::vector<std::uint32_t> versions_;      // of each fragment, (P)
  std::vector<std::set<std::uint16_t>> newest_regions_;  // where each stands, (P)
  std::vector<std::uint32_t> closed_step_;   // newest step whose sync has ended or was skipped, (P)
  std::uint32_t next_sync_ = 0, merged_step_ = 0;
  std::uint32_t checkpoint_count_ = 0, saved_step_ = 0;
  Nanoseconds next_checkpoint_ = base::kNever;
  std::uint16_t epoch_ = 1;
};

}  // namespace sim::methods

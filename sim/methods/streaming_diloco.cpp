// sim/methods/streaming_diloco.cpp: the learners' loop and their answer to faults.
#include "sim/methods/streaming_diloco.h"

#include <algorithm>

namespace sim::methods {

using tape::Activity;

StreamingDiloco::StreamingDiloco(World& world)
    : ReplicaMethod(world),
      syncs_(world, replicas_),
      copies_hang_until_(replicas_.size(), 0) {}

engine::Process StreamingDiloco::live(Replica& replica, bool after_loss) {
  if (after_loss) co_await react_to_loss(replica);
  for (;;) {
    if (replica.job.can_grow()) co_await replica.job.grow();
    // Nobody waits for the steps that it is behind: each would delay all merges by as much, for good.
    const bool alone = world_.training.late != LatePolicy::kBlock && syncs_.is_behind(replica);
    if (alone) go_on_from(replica, newest_live_step());
    syncs_.arrive(replica);
    while (syncs_.holds_back(replica)) {
      replica.job.begin(Activity::kWaitingForMerge);
      co_await replica.arrival.wait(replica.job.turn());
    }
    adopt(replica);
    if (replica.checkpoints < syncs_.checkpoint_count()) co_await help_to_save(replica);
    replica.job.begin(Activity::kStepping);
    co_await run_steps(replica);
  }
}

engine::Task<> StreamingDiloco::help_to_save(Replica& replica) {
  replica.checkpoints = syncs_.checkpoint_count();
  if (world_.training.checkpoint.save == 0) co_return;
  replica.job.begin(Activity::kSavingCheckpoint);
  co_await world_.conductor.sleep_for(world_.training.checkpoint.save, replica.job.turn());
}

// Steps up to the next barrier or adoption are alike, so they are one stretch.
engine::Task<> StreamingDiloco::run_steps(Replica& replica) {
  co_await replica.job.run_steps(syncs_.steps_until_next(replica));
}

void StreamingDiloco::adopt(Replica& replica) {
  std::vector<Broadcast> early;
  for (const Broadcast& broadcast : replica.inbox) {
    if (replica.job.step() < std::int64_t{broadcast.step} + world_.training.overlap_steps) {
      early.push_back(broadcast);
    } else {
      replica.adopt(world_, broadcast);
    }
  }
  replica.inbox = std::move(early);
}

void StreamingDiloco::go_out(Replica& replica) {
  replica.out = true;
  syncs_.learner_changed(replica);
  if (!replica.job.state_lives()) lose_state(replica);
  const LossPolicy policy = world_.training.on_loss;
  if (policy != LossPolicy::kWait) replica.listening = false;
  if (policy == LossPolicy::kDiscard) {
    world_.conductor.spawn(discard_round(replica), {engine::Priority::kDecision, 0});
  }
}

engine::Process StreamingDiloco::discard_round(Replica& lost) {
  const Nanoseconds detection = world_.training.elasticity.detection;
  if (detection > 0) {
    co_await world_.conductor.sleep_for(detection, {engine::Priority::kDecision, 0});
    if (!lost.out) co_return;  // it was only late
  }
  syncs_.abandon_round();
  for (const auto& replica : replicas_) {
    if (replica->can_contribute() && syncs_.is_current(*replica)) go_back(*replica);
  }
}

// Nothing to do for who has done nothing since.
void StreamingDiloco::go_back(Replica& replica) {
  ElasticJob& job = replica.job;
  job.tell_stretch();
  if (job.step() == syncs_.merged_step()) return;
  const bool stepping = job.activity() == Activity::kStepping;
  job.close_stretch();
  replica.transfer = next_transfer_++;
  world_.say(tape::StateSent{replica.transfer, tape::kNoLearner, job.learner()});
  replica.inbox.clear();
  begin_new_life(replica, tape::kNoLearner, syncs_.merged_step(), syncs_.versions());
  if (stepping && !replica.out) job.restart([this, r = &replica] { return live(*r, false); });
}

void StreamingDiloco::hosts_lost(std::span<const std::uint32_t> slices) {
  ReplicaMethod::hosts_lost(slices);
  for (const auto& [learner, lost] : by_learner(world_.shape(), slices)) {
    // Any slice or host left holds the whole state.
    if (!replicas_[learner]->job.state_lives()) lose_state(*replicas_[learner]);
  }
}

void StreamingDiloco::lose_state(Replica& replica) {
  if (!replica.has_state) return;
  replica.has_state = false;
  replica.listening = false;
  replica.inbox.clear();
  syncs_.lose_takes(replica);
  for (const auto& other : replicas_) {
    if (!other->copying || other->donor != replica.job.learner()) continue;
    copies_hang_until_[other->job.learner()] =
        world_.conductor.now() + world_.training.elasticity.detection;
  }
  restart_copies_from(replica);
  if (syncs_.newest_is_gone()) syncs_.go_on_with(furthest_ahead());
  recovery_changed_.notify();
}

// Of those that hold a state. Requires: somebody does.
const Replica& StreamingDiloco::furthest_ahead() {
  const Replica* ahead = nullptr;
  for (const auto& replica : replicas_) {
    replica->job.tell_stretch();
    if (!replica->has_state) continue;
    if (!ahead || replica->job.step() > ahead->job.step()) ahead = replica.get();
  }
  return *ahead;
}

void StreamingDiloco::network_changed() {
  ReplicaMethod::network_changed();
  recovery_changed_.notify();
  syncs_.network_changed();
}

// Back with slices it does as the policy says.
engine::Task<> StreamingDiloco::react_to_loss(Replica& replica) {
  co_await regain_slices(replica);
  if (!replica.out && replica.has_state) co_return;
  const LossPolicy policy = world_.training.on_loss;
  const bool only_late = policy == LossPolicy::kWait || syncs_.is_expected(replica);
  if (!only_late && policy != LossPolicy::kStale && replica.has_state) {
    // Its hosts bring to its end what they have begun, and receive the result.
    while (syncs_.is_contributing(replica)) {
      replica.job.begin(Activity::kWaitingForMerge);
      co_await replica.arrival.wait(replica.job.turn());
    }
    if (missed_merges(replica)) lose_state(replica);
  }
  if (!replica.has_state) {
    co_await recover(replica);
  } else if (!only_late) {
    const bool discarded = policy == LossPolicy::kDiscard && syncs_.is_current(replica) &&
                           replicas_.size() > 1;
    if (discarded) go_back(replica);
    go_on_from(replica, newest_live_step());
  }
  replica.out = false;
  listen(replica);
  syncs_.learner_changed(replica);
  recovery_changed_.notify();
}

// Who missed one and is alone with its state has nobody to copy.
bool StreamingDiloco::missed_merges(const Replica& replica) const {
  if (syncs_.is_current(replica)) return false;
  return std::ranges::any_of(replicas_, [&](const auto& other) {
    return other.get() != &replica && other->has_state;
  });
}

void StreamingDiloco::listen(Replica& replica) {
  if (!replica.listening) ++replica.listening_number;
  replica.listening = true;
}

// At barriers before `step` it is not waited for; at that step it may be in time.
void StreamingDiloco::go_on_from(Replica& replica, std::uint32_t step) {
  if (step <= replica.job.step()) return;
  replica.job.jump_to_step(step);
  replica.arrived_step = step - 1;
}

}  // namespace sim::methods

// sim/methods/streaming_diloco.cpp: the learners' loop and their answer to faults.
#include "sim/methods/streaming_diloco.h"

#include <algorithm>

namespace sim::methods {

using tape::Activity;

StreamingDiloco::StreamingDiloco(World& world) : ReplicaMethod(world), syncs_(world, replicas_) {}

engine::Process StreamingDiloco::live(Replica& replica, bool after_loss) {
  if (after_loss) co_await react_to_loss(replica);
  for (;;) {
    if (replica.job.can_grow()) co_await replica.job.grow();
    if (replica.checkpoints < syncs_.checkpoint_count()) co_await help_to_save(replica);
    syncs_.arrive(replica);
    while (syncs_.holds_back(replica)) {
      replica.job.begin(Activity::kWaitingForMerge);
      co_await replica.arrival.wait(replica.job.turn());
    }
    adopt(replica);
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

void StreamingDiloco::slices_lost(std::span<const std::uint32_t> slices) {
  ReplicaMethod::slices_lost(slices);
  syncs_.look_again();
}

void StreamingDiloco::go_out(Replica& replica) {
  replica.out = true;
  if (world_.training.on_loss == LossPolicy::kWait) return;
  replica.listening = false;
  replica.inbox.clear();
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
  restart_copies_from(replica);
  recovery_changed_.notify();
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
  const bool others_went_on = std::ranges::any_of(replicas_, [&](const auto& other) {
    return other.get() != &replica && other->can_contribute();
  });
  if (policy == LossPolicy::kSkip && others_went_on) lose_state(replica);
  if (!replica.has_state) {
    co_await recover(replica);
  } else if (policy == LossPolicy::kStale) {
    go_on_from(replica, newest_live_step());
  }
  replica.out = false;
  replica.listening = true;
  syncs_.look_again();
  recovery_changed_.notify();
}

// At barriers of steps that it did not do itself it is not waited for.
void StreamingDiloco::go_on_from(Replica& replica, std::uint32_t step) {
  if (step <= replica.job.step()) return;
  replica.job.jump_to_step(step);
  replica.arrived_step = step;
}

}  // namespace sim::methods

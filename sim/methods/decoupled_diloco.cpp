// sim/methods/decoupled_diloco.cpp: the learners' loop and their answer to faults.
#include "sim/methods/decoupled_diloco.h"

#include <algorithm>

#include "sim/methods/fragment_traffic.h"

namespace sim::methods {

using tape::Activity;

DecoupledDiloco::DecoupledDiloco(World& world)
    : ReplicaMethod(world), syncer_(world, replicas_) {}

void DecoupledDiloco::start() {
  ReplicaMethod::start();
  if (world_.with_merges) syncer_.start();
}

// Algorithm 1. The learner steps, reports and adopts what has arrived; it never waits (unless
// adoption is pinned, which makes the method synchronous).
engine::Process DecoupledDiloco::live(Replica& replica, bool after_loss) {
  if (after_loss) co_await react_to_loss(replica);
  for (;;) {
    if (replica.job.can_grow()) co_await replica.job.grow();
    adopt(replica);
    replica.job.begin(Activity::kStepping);
    co_await step(replica);
    if (pinned() && world_.with_merges) co_await wait_for_pinned(replica);
  }
}

engine::Task<> DecoupledDiloco::step(Replica& replica) {
  ElasticJob& job = replica.job;
  if (!world_.with_merges) {
    co_await job.run_steps(world_.horizon.steps_until_due(job.tokens_per_step()));
    co_return;
  }
  const Nanoseconds start = world_.conductor.now();
  const bool done = co_await job.run_steps(1);
  if (!done) co_return;
  world_.conductor.spawn(syncer_.report(replica, world_.conductor.now() - start),
                         {engine::Priority::kArrival, job.learner()});
}

// Synchronous: every sync that was due tau steps ago must have come or been given up.
engine::Task<> DecoupledDiloco::wait_for_pinned(Replica& replica) {
  const std::int64_t due = std::int64_t{replica.job.step()} - world_.training.overlap_steps;
  if (due < 1) co_return;
  const auto step = static_cast<std::uint32_t>(due);
  for (const std::uint16_t p : fragments_due(world_.training, step)) {
    while (replica.counters[p].settled_step < step) {
      replica.job.begin(Activity::kWaitingForMerge);
      co_await replica.arrival.wait(replica.job.turn());
    }
  }
}

void DecoupledDiloco::adopt(Replica& replica) {
  if (replica.inbox.empty()) return;
  std::vector<Broadcast> early;
  for (const Broadcast& broadcast : replica.inbox) {
    const auto due = std::int64_t{broadcast.step} + world_.training.overlap_steps;
    if (pinned() && replica.job.step() < due) {
      early.push_back(broadcast);
    } else {
      replica.adopt(world_, broadcast);
    }
  }
  replica.inbox = std::move(early);
}

// Only the hosts' copies outlast the program.
void DecoupledDiloco::go_out(Replica& replica) {
  if (!replica.out) replica.out_since = world_.conductor.now();
  replica.out = true;
  replica.reported = replica.reported_again = replica.heard = false;
  syncer_.learner_failed(replica);
  if (world_.with_merges && !replica.job.state_lives()) lose_state(replica);
}

void DecoupledDiloco::hosts_lost(std::span<const std::uint32_t> slices) {
  ReplicaMethod::hosts_lost(slices);
  if (!world_.with_merges) return;
  for (const auto& [learner, lost] : by_learner(world_.shape(), slices)) {
    // Any slice or host left holds the whole state.
    if (!replicas_[learner]->job.state_lives()) lose_state(*replicas_[learner]);
  }
  syncer_.shards_changed().notify();  // a shard may have counted on its parameters
}

void DecoupledDiloco::lose_state(Replica& replica) {
  if (!replica.has_state) return;
  replica.has_state = false;
  replica.listening = false;
  replica.inbox.clear();
  syncer_.learner_failed(replica);
  restart_copies_from(replica);
  recovery_changed_.notify();
}

void DecoupledDiloco::syncer_lost(std::uint16_t shard) {
  syncer_.shard_lost(shard);
  for (const auto& replica : replicas_) {
    if (replica->copying && replica->donor == tape::kNoLearner && !syncer_.whole_source(*replica)) {
      restart_copy(*replica, tape::LossReason::kSyncerDied);
    }
  }
}

void DecoupledDiloco::syncer_host_lost(std::uint16_t shard) { syncer_.host_lost(shard); }

void DecoupledDiloco::network_changed() {
  ReplicaMethod::network_changed();
  if (world_.with_merges) syncer_.network_changed();
}

// Back with slices it resumes stale (a short outage, the hosts' copies alive) or copies a peer.
engine::Task<> DecoupledDiloco::react_to_loss(Replica& replica) {
  ElasticJob& job = replica.job;
  co_await regain_slices(replica);
  if (!world_.with_merges) {
    replica.out = false;
    co_return;
  }
  if (outlasted(replica)) lose_state(replica);
  if (!replica.has_state) co_await recover(replica);
  if (replica.out) job.jump_to_step(std::max(job.step(), newest_step(replicas_)));
  replica.out = false;
}

// It was out for so long that a copy of somebody who went on is worth more than its own state.
bool DecoupledDiloco::outlasted(const Replica& replica) const {
  const Nanoseconds step = replica.job.next_compute_time();
  if (!replica.out || step <= 0) return false;
  const bool others_went_on = std::ranges::any_of(replicas_, [&](const auto& other) {
    return other.get() != &replica && other->can_contribute();
  });
  return others_went_on &&
         (world_.conductor.now() - replica.out_since) / step > world_.training.resume_within;
}

}  // namespace sim::methods

// sim/methods/replica_method.cpp: see replica_method.h.
#include "sim/methods/replica_method.h"

namespace sim::methods {

ReplicaMethod::ReplicaMethod(World& world)
    : world_(world), replicas_(make_replicas(world)), recovery_changed_(world.conductor) {}

void ReplicaMethod::start() {
  for (const auto& replica : replicas_) {
    replica->job.start([this, r = replica.get()] { return live(*r, false); });
  }
}

void ReplicaMethod::slices_lost(std::span<const std::uint32_t> slices) {
  for (const auto& [learner, lost] : by_learner(world_.shape(), slices)) {
    Replica& replica = *replicas_[learner];
    const bool must_react = replica.job.lose_slices(lost);
    const bool stopped = must_react && !world_.training.elasticity.elastic;
    if (stopped || replica.job.joined_count() == 0) go_out(replica);
    if (must_react) react(replica);
  }
}

void ReplicaMethod::react(Replica& replica) {
  if (replica.copying) abandon_copy(replica, tape::LossReason::kReceiverDied);
  replica.job.restart([this, r = &replica] { return live(*r, true); });
}

void ReplicaMethod::hosts_lost(std::span<const std::uint32_t> slices) {
  for (const auto& [learner, lost] : by_learner(world_.shape(), slices)) {
    replicas_[learner]->job.lose_hosts(lost);
  }
}

void ReplicaMethod::network_changed() {
  for (const auto& replica : replicas_) {
    if (replica->job.network_changed()) react(*replica);
  }
}

void ReplicaMethod::slices_returned(std::span<const std::uint32_t> slices) {
  for (const auto& [learner, back] : by_learner(world_.shape(), slices)) {
    replicas_[learner]->job.return_slices(back);
  }
}

void ReplicaMethod::tell_finished_steps() {
  for (const auto& replica : replicas_) replica->job.tell_stretch();
}

engine::Task<> ReplicaMethod::regain_slices(Replica& replica) {
  ElasticJob& job = replica.job;
  const bool elastic = world_.training.elasticity.elastic;
  const bool whole = job.joined_count() == job.shape().slices.size();
  if (elastic ? job.joined_count() == 0 : !whole) {
    co_await job.wait_and_restart(!elastic);
    const bool regained = !replica.has_state || co_await job.regain_state();
    if (regained) co_return;
    if (world_.with_merges) {
      lose_state(replica);
    } else {
      job.replace_state();  // what learners hold is not simulated
    }
  } else if (replica.has_state) {
    co_await job.shrink();
  }
}

void ReplicaMethod::abandon_copy(Replica& replica, tape::LossReason reason) {
  world_.say(tape::StateLost{replica.transfer, replica.donor, replica.job.learner(), reason});
  replica.copying = false;
  replica.listening = false;
  replica.inbox.clear();
  recovery_changed_.notify();
}

void ReplicaMethod::restart_copy(Replica& replica, tape::LossReason reason) {
  abandon_copy(replica, reason);
  replica.job.restart([this, r = &replica] { return live(*r, true); });
}

void ReplicaMethod::restart_copies_from(const Replica& donor) {
  for (const auto& other : replicas_) {
    if (other->copying && other->donor == donor.job.learner()) {
      restart_copy(*other, tape::LossReason::kDonorDied);
    }
  }
}

}  // namespace sim::methods

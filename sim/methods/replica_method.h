// sim/methods/replica_method.h: what all methods do whose learners train apart and merge fragments.
//
// Each learner is a replica with a life of its own, a process that a loss of slices starts afresh. How it
// lives, and what its absence means to the others, is the method's.
#pragma once

#include "sim/methods/method.h"
#include "sim/methods/replica.h"

namespace sim::methods {

class ReplicaMethod : public Method {
 public:
  explicit ReplicaMethod(World& world);

  void start() override;
  void slices_lost(std::span<const std::uint32_t> slices) override;
  void hosts_lost(std::span<const std::uint32_t> slices) override;
  void slices_returned(std::span<const std::uint32_t> slices) override;
  void network_changed() override;
  void tell_finished_steps() override;
  Nanoseconds step_end(std::uint16_t learner) const override {
    return replicas_[learner]->job.step_end();
  }

 protected:
  // The learner's process; `after_loss`: it begins with what a loss asks for.
  virtual engine::Process live(Replica& replica, bool after_loss) = 0;
  // Too few slices are left of it to go on.
  virtual void go_out(Replica& replica) = 0;
  // Neither its slices nor their hosts hold its state any more.
  virtual void lose_state(Replica& replica) = 0;

  // What is left shrinks; where too little is left, slices are waited for, and share the state that some
  // of them hold. With all slices there it was only a copy that broke.
  engine::Task<> regain_slices(Replica& replica);
  // The copy that it is receiving has broken.
  void abandon_copy(Replica& replica, tape::LossReason reason);
  void restart_copy(Replica& replica, tape::LossReason reason);
  // Whoever copies from this donor must begin again with another.
  void restart_copies_from(const Replica& donor);
  // Its job has lost slices that it must react to.
  void react(Replica& replica);

  World& world_;
  Replicas replicas_;
  engine::Signal recovery_changed_;
  std::uint32_t next_transfer_ = 0;
};

}  // namespace sim::methods

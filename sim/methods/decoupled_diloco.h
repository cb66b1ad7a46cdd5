// sim/methods/decoupled_diloco.h: learners that never wait, and a syncer that merges who is there.
//
// Source: arXiv:2604.21428, Algorithm 1 (learners), Algorithm 2 (sim/methods/syncer.h), Appendix E.3
// (recovery). Differs: a fragment is taken as it stands after the learner's last finished step when
// the syncer decides, which may be one step past the reported one if a grace window outlasts it.
#pragma once

#include "sim/methods/replica_method.h"
#include "sim/methods/syncer.h"

namespace sim::methods {

class DecoupledDiloco final : public ReplicaMethod {
 public:
  explicit DecoupledDiloco(World& world);

  void start() override;
  void hosts_lost(std::span<const std::uint32_t> slices) override;
  void syncer_lost(std::uint16_t shard) override;
  void syncer_host_lost(std::uint16_t shard) override;
  void syncer_returned(std::uint16_t shard) override { syncer_.shard_returned(shard); }
  std::size_t syncer_count() const override { return syncer_.shard_count(); }
  std::uint16_t syncer_region(std::uint16_t shard) const override {
    return syncer_.shard_region(shard);
  }
  void network_changed() override;

 private:
  engine::Process live(Replica& replica, bool after_loss) override;
  engine::Task<> step(Replica& replica);
  engine::Task<> react_to_loss(Replica& replica);
  engine::Task<> recover(Replica& replica);
  engine::Task<bool> copy_from(Replica& replica, Replica* donor, std::uint16_t source_region);
  Replica* find_donor(const Replica& replica);
  bool outlasted(const Replica& replica) const;
  engine::Task<> wait_for_pinned(Replica& replica);

  void adopt(Replica& replica);
  void go_out(Replica& replica) override;
  void lose_state(Replica& replica) override;
  bool pinned() const { return world_.training.adoption == Adoption::kPinned; }

  Syncer syncer_;
};

}  // namespace sim::methods

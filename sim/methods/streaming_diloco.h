// sim/methods/streaming_diloco.h: learners that train apart and meet, fragment by fragment, at barriers.
//
// Every learner takes fragment p after the steps t with (t - first_take) mod H = floor(p H / P); all
// of them all-reduce the outer gradients (sim/methods/barrier_syncs.h) and adopt the result tau steps
// later. A fragment that is not there by then blocks the learner (late = block), is given up by it
// (skip), or is adopted when it comes (stale).
//
// A learner whose slices are all gone, or whose job stands still (on_loss):
//   wait   the others stand at the barrier until it has done the steps that it missed, or, where its
//          hosts lost the state, copied that of a peer;
//   skip   they merge without it; back again it copies a peer;
//   stale  they merge without it; back again it goes on with what it had, from the newest step, and
//          its outer gradients are measured from the versions that it had received.
// Where no learner holds a state any more, the first one back loads the last checkpoint and goes on
// from its step (checkpoint.redo; else the last merge survives and nothing is done again).
// A copy brings parameters, inner state, global fragments and outer momentum (state_bytes and
// syncer_state_bytes).
// Source: arXiv:2501.18512, Algorithm 2 (facts (e)); the policies are facts' three, methods.md
// checklist 6, applied to losses too.
#pragma once

#include "sim/methods/barrier_syncs.h"
#include "sim/methods/replica_method.h"

namespace sim::methods {

class StreamingDiloco final : public ReplicaMethod {
 public:
  explicit StreamingDiloco(World& world);

  void slices_lost(std::span<const std::uint32_t> slices) override;
  void hosts_lost(std::span<const std::uint32_t> slices) override;
  void syncer_lost(std::uint16_t) override {}
  void syncer_returned(std::uint16_t) override {}
  std::size_t syncer_count() const override { return 0; }
  std::uint16_t syncer_region(std::uint16_t) const override { return 0; }
  void network_changed() override;

 private:
  engine::Process live(Replica& replica, bool after_loss) override;
  engine::Task<> run_steps(Replica& replica);
  engine::Task<> react_to_loss(Replica& replica);
  engine::Task<> recover(Replica& replica);
  engine::Task<> copy_from(Replica& replica, Replica& donor);
  engine::Task<> start_again(Replica& replica);
  engine::Task<> help_to_save(Replica& replica);
  void begin_new_life(Replica& replica, std::uint32_t step, const std::vector<std::uint32_t>& held);
  void adopt(Replica& replica);
  void go_out(Replica& replica) override;
  void lose_state(Replica& replica) override;
  void go_on_from(Replica& replica, std::uint32_t step);
  // The furthest step that any learner which holds a state has finished. Tells what stretches hold.
  std::uint32_t newest_live_step();
  bool nobody_has_state() const;

  BarrierSyncs syncs_;
};

}  // namespace sim::methods

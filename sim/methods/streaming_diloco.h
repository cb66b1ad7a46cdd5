// sim/methods/streaming_diloco.h: learners that train apart and meet, fragment by fragment, at barriers.
//
// Every learner takes fragment p after the steps t with (t - first_take) mod H = floor(p H / P); all
// of them all-reduce the outer gradients (sim/methods/barrier_syncs.h) and adopt the result tau steps
// later. A fragment that is not there by then blocks the learner (late = block), is given up by it
// (skip), or is adopted when it comes (stale). Where late lets the others go on, a learner that is a whole
// period behind goes on from the newest step: it has done fewer steps, and is in merges again.
//
// A learner whose slices are all gone, or whose job stands still, keeps its state only where `recovery` is
// host-memory and a host that holds it lives (state_copies.h). The others notice after `detection`; one that
// is back before, with its state, was only late. Else (on_loss):
//   wait   the others stand at the barrier until it has done the steps that it missed, or has got a state;
//   skip   they merge without it; back again it copies what it missed: where a merge has happened without
//          it, a peer's state, and where none has, nothing: it goes on with its hosts' copy;
//   stale  they merge without it; back again it goes on with what it had, and its outer gradients are
//          measured from the versions that it had received;
//   discard  they throw the round away: back to what they last merged (each holds a copy of it in its host's
//          memory; the inner state begins anew) and to the step with which the round began. The lost one
//          does as under skip, and goes back likewise where it goes on with its hosts' copy. Who has not
//          received the newest version, being cut off, goes on as it is. As torchft does, facts (l).
// Under skip and stale it goes on from the newest step: nobody does steps again for its sake.
// Who has no state gets one (recovery):
//   host-memory, peer  a peer's: parameters, inner state, global fragments and outer momentum
//                      (state_bytes and syncer_state_bytes);
//   checkpoint         the program's start reads the store, then the newest global fragments and outer
//                      momentum come from a peer (syncer_state_bytes); the inner state begins anew.
// Where no learner holds a state any more, the first one back loads the last checkpoint and all go on
// from its step (with none: from the beginning). redo = false is an oracle for timing alone: then the last
// merge survives its holders, and nothing is done again.
// Source: arXiv:2501.18512, Algorithm 2 (facts (e)); the policies are facts' three, methods.md
// checklist 6, applied to losses too.
#pragma once

#include "sim/methods/barrier_syncs.h"
#include "sim/methods/replica_method.h"

namespace sim::methods {

class StreamingDiloco final : public ReplicaMethod {
 public:
  explicit StreamingDiloco(World& world);

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
  engine::Task<> load(Replica& replica);
  void start_again(Replica& replica);
  // From whom the learner may get a state now; null: from nobody.
  Replica* find_donor(const Replica& replica) const;
  engine::Task<> help_to_save(Replica& replica);
  void listen(Replica& replica);
  void begin_new_life(Replica& replica, std::uint16_t source, std::uint32_t step,
                      const std::vector<std::uint32_t>& held);
  void adopt(Replica& replica);
  void go_out(Replica& replica) override;
  void lose_state(Replica& replica) override;
  engine::Process discard_round(Replica& lost);
  // To what it last merged.
  void go_back(Replica& replica);
  bool missed_merges(const Replica& replica) const;
  void go_on_from(Replica& replica, std::uint32_t step);
  // The furthest step that any learner which holds a state has finished. Tells what stretches hold.
  std::uint32_t newest_live_step();
  const Replica& furthest_ahead();
  bool nobody_has_state() const;

  BarrierSyncs syncs_;
  std::vector<Nanoseconds> copies_hang_until_;  // (M); a copy that broke is not given up before
};

}  // namespace sim::methods

// sim/methods/snapshot_round.h: when a consistent snapshot begins, who has saved, and when it is whole.
//
// A variant of Chandy and Lamport's algorithm. The syncer begins when its step is a multiple of T_c.
// Every broadcast says which snapshot was the newest when it was merged; a learner that receives one of
// a snapshot that it has not saved saves first. Its next report carries the marker back. The snapshot is
// complete when every live learner has answered. Saving happens behind the training and takes no time.
// Source: arXiv:2604.21428, Appendix E.2. Ours: a learner saves when the marker arrives, from the copy
// of its state that its hosts hold after each step (Fig. 4), so one that waits for repair with living
// hosts has a part in the snapshot, and it need not answer; who lost its state since the beginning is
// left out; a snapshot that is still open when the next one begins is given up.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/methods/replica.h"

namespace sim::methods {

class SnapshotRound {
 public:
  SnapshotRound(World& world, const Replicas& replicas);

  // The syncer's step begins.
  void at_step(std::uint32_t step);
  // What a broadcast that is merged now carries; 0 before the first snapshot.
  std::uint32_t newest() const { return number_; }
  // A broadcast of that snapshot reached the learner.
  void marker_reached(const Replica& replica, std::uint32_t snapshot);
  // What a report sent now carries; 0: no marker.
  std::uint32_t marker_of(const Replica& replica) const;
  void marker_returned(const Replica& replica, std::uint32_t snapshot);
  // A learner lost its state, or was left with too few slices.
  void learner_failed(const Replica& replica);

 private:
  enum class Part : std::uint8_t { kNotReached, kSaved, kAnswered, kLeftOut };

  void end_if_complete();

  World& world_;
  const Replicas& replicas_;
  std::vector<Part> parts_;  // (M)
  std::uint32_t number_ = 0;
  bool open_ = false;
};

}  // namespace sim::methods

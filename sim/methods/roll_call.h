// sim/methods/roll_call.h: who learners that meet at barriers believe to be there.
//
// A learner is gone while it is out or holds no state; a region, while it cannot all-reduce with the
// others. Nobody sees that at once: until `detection` has passed since, they wait for it as for one that
// is slow, and who is back before that was only late.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/methods/replica.h"

namespace sim::methods {

class RollCall {
 public:
  // Notifies `changed` also when an absence becomes known.
  RollCall(World& world, const Replicas& replicas, engine::Signal& changed);

  // The learner went or came back.
  void learner_changed(const Replica& replica);
  // What can be reached has changed.
  void network_changed();

  // Regions that can all-reduce with each other now, ascending.
  const std::vector<std::uint16_t>& meeting() const { return meeting_; }
  bool meets(std::uint16_t region) const;

  // Is there, or gone for less than the detection.
  bool expects_learner(const Replica& replica) const;
  bool expects_region(std::uint16_t region) const;

 private:
  // Since when; kNever: is there.
  using Absence = Nanoseconds;
  void update(Absence& absence, bool here);
  bool is_known(Absence absence) const;
  std::vector<std::uint16_t> find_meeting() const;

  World& world_;
  const Replicas& replicas_;
  engine::Signal& changed_;
  std::vector<std::uint16_t> meeting_;
  std::vector<Absence> learners_;  // (M)
  std::vector<Absence> regions_;   // (regions)
};

}  // namespace sim::methods

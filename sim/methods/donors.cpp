// sim/methods/donors.cpp: see donors.h.
#include "sim/methods/donors.h"

#include <algorithm>

namespace sim::methods {

Nanoseconds distance(const World& world, std::uint16_t source, std::uint16_t target) {
  return source == target ? Nanoseconds{-1} : world.transport.path_one_way(source, target);
}

Replica* nearest_donor(const World& world, const Replicas& replicas, const Replica& receiver,
                       const std::function<bool(const Replica&)>& may_give) {
  Replica* best = nullptr;
  const auto from = [&](const Replica& donor) {
    return distance(world, donor.job.region(), receiver.job.region());
  };
  for (const auto& donor : replicas) {
    if (donor.get() == &receiver || !may_give(*donor) ||
        !world.transport.reachable(donor->job.region(), receiver.job.region())) {
      continue;
    }
    const bool nearer = !best || from(*donor) < from(*best) ||
                        (from(*donor) == from(*best) &&
                         donor->job.shape().name < best->job.shape().name);
    if (nearer) best = donor.get();
  }
  return best;
}

bool sibling_is_fetching(const Replicas& replicas, const Replica& receiver) {
  return std::ranges::any_of(replicas, [&](const auto& other) {
    if (other.get() == &receiver || !other->copying ||
        other->job.region() != receiver.job.region()) {
      return false;
    }
    return other->donor == tape::kNoLearner ||
           replicas[other->donor]->job.region() != receiver.job.region();
  });
}

}  // namespace sim::methods

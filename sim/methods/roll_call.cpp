// sim/methods/roll_call.cpp: see roll_call.h.
#include "sim/methods/roll_call.h"

#include <algorithm>
#include <map>

namespace sim::methods {

RollCall::RollCall(World& world, const Replicas& replicas, engine::Signal& changed)
    : world_(world),
      replicas_(replicas),
      changed_(changed),
      meeting_(find_meeting()),
      learners_(replicas.size(), base::kNever),
      regions_(world.shape().regions.size(), base::kNever) {}

void RollCall::learner_changed(const Replica& replica) {
  update(learners_[replica.job.learner()], replica.can_contribute());
}

void RollCall::network_changed() {
  meeting_ = find_meeting();
  for (std::size_t r = 0; r < regions_.size(); ++r) {
    update(regions_[r], meets(static_cast<std::uint16_t>(r)));
  }
}

void RollCall::update(Absence& absence, bool here) {
  if (here == (absence == base::kNever)) return;
  absence = here ? base::kNever : world_.conductor.now();
  const Nanoseconds detection = world_.training.elasticity.detection;
  if (here || detection == 0) return;
  world_.conductor.call_at(world_.conductor.now() + detection, {engine::Priority::kDecision, 0},
                           [this] { changed_.notify(); });
}

bool RollCall::is_known(Absence absence) const {
  return absence != base::kNever &&
         world_.conductor.now() - absence >= world_.training.elasticity.detection;
}

bool RollCall::expects_learner(const Replica& replica) const {
  return !is_known(learners_[replica.job.learner()]);
}

bool RollCall::expects_region(std::uint16_t region) const { return !is_known(regions_[region]); }

bool RollCall::meets(std::uint16_t region) const {
  return std::ranges::binary_search(meeting_, region);
}

std::vector<std::uint16_t> RollCall::find_meeting() const {
  std::map<std::uint16_t, std::size_t> learners;  // of each region that is up
  for (const auto& replica : replicas_) {
    const std::uint16_t region = replica->job.region();
    if (world_.transport.region_up(region)) ++learners[region];
  }
  std::vector<std::uint16_t> best;
  std::size_t most = 0;
  for (const auto& [first, own] : learners) {
    std::vector<std::uint16_t> group;
    std::size_t count = 0;
    for (const auto& [region, here] : learners) {
      if (!world_.transport.reachable(first, region)) continue;
      group.push_back(region);
      count += here;
    }
    if (count > most) {
      most = count;
      best = std::move(group);
    }
  }
  return best;
}

}  // namespace sim::methods

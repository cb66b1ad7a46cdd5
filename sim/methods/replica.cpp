// sim/methods/replica.cpp: see replica.h.
#include "sim/methods/replica.h"

namespace sim::methods {

void Replica::adopt(World& world, const Broadcast& broadcast) {
  FragmentCounter& counter = counters[broadcast.fragment];
  if (broadcast.version <= counter.held_version) return;
  const bool contributed = counter.taken_sync == broadcast.sync;
  const std::uint32_t lag = contributed ? job.step() - counter.taken_step : 0;
  world.say(tape::FragmentAdopted{broadcast.sync, broadcast.version, job.step(), lag, job.learner(),
                                  job.incarnation(), broadcast.fragment, broadcast.epoch});
  counter.held_version = broadcast.version;
  counter.anchored = true;
  reset_counters(broadcast.fragment);
  // The schedule stands at the global step last received plus the own steps since its take.
  job.receive_schedule_step(std::max(job.schedule_step(), broadcast.step + lag));
}

Replicas make_replicas(World& world) {
  Replicas replicas;
  for (std::size_t m = 0; m < world.shape().learners.size(); ++m) {
    replicas.push_back(
        std::make_unique<Replica>(world, static_cast<std::uint16_t>(m),
                                  static_cast<std::size_t>(world.training.fragments)));
  }
  return replicas;
}

std::uint32_t newest_step(const Replicas& replicas) {
  std::uint32_t newest = 0;
  for (const auto& replica : replicas) newest = std::max(newest, replica->job.step());
  return newest;
}

std::map<std::uint16_t, std::vector<std::uint32_t>> by_learner(
    const tape::RunShape& shape, std::span<const std::uint32_t> slices) {
  std::map<std::uint16_t, std::vector<std::uint32_t>> parts;
  for (const std::uint32_t slice : slices) {
    const std::uint16_t learner = shape.slices[slice].learner;
    if (learner != tape::kNoLearner) parts[learner].push_back(slice);
  }
  return parts;
}

}  // namespace sim::methods

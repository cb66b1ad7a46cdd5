// sim/methods/barrier_reduction.cpp: the all-reduce of a barrier's sync: its members, its way, its result.
#include <algorithm>

#include "sim/engine/collectives.h"
#include "sim/methods/barrier_syncs.h"
#include "sim/methods/fragment_traffic.h"

namespace sim::methods {

using tape::TransferStatus;

bool BarrierSyncs::receives(const Replica& replica) const {
  return replica.listening && roll_.meets(replica.job.region());
}

// All that give or receive.
void BarrierSyncs::call_members(Sync& sync) const {
  for (const auto& replica : replicas_) {
    sync.members[replica->job.learner()] = receives(*replica);
  }
  for (const Take& take : sync.takes) sync.members[take.learner] = true;
}

// Of the members, ascending.
std::vector<std::uint16_t> BarrierSyncs::regions_of(const Sync& sync) const {
  std::vector<std::uint16_t> regions;
  for (const auto& replica : replicas_) {
    if (sync.members[replica->job.learner()]) regions.push_back(replica->job.region());
  }
  std::ranges::sort(regions);
  regions.erase(std::unique(regions.begin(), regions.end()), regions.end());
  return regions;
}

Nanoseconds BarrierSyncs::local_time(const Sync& sync,
                                     const std::vector<std::uint16_t>& regions) const {
  if (world_.network.model == engine::NetworkModel::kNone) return 0;
  Nanoseconds longest = 0;
  for (const std::uint16_t region : regions) {
    const auto here = std::ranges::count_if(replicas_, [&](const auto& replica) {
      return replica->job.region() == region && sync.members[replica->job.learner()];
    });
    longest = std::max(
        longest, engine::local_all_reduce(world_.network.regions[region],
                                          static_cast<std::size_t>(here),
                                          fragment_wire_bytes(world_, sync.fragment)));
  }
  return longest;
}

// What a broken all-reduce still had to carry is never sent.
engine::Task<bool> BarrierSyncs::reduce(Sync& sync) {
  sync.reduction = Reduction::kRuns;
  call_members(sync);
  const engine::ProcessId carrying = world_.conductor.spawn(carry(sync), decision());
  while (sync.reduction == Reduction::kRuns) co_await changed_.wait(decision());
  const bool done = sync.reduction == Reduction::kDone;
  if (!done) world_.conductor.kill(carrying);
  sync.reduction = Reduction::kNone;
  co_return done;
}

engine::Process BarrierSyncs::carry(Sync& sync) {
  const std::vector<std::uint16_t> regions = regions_of(sync);
  co_await world_.conductor.sleep_for(local_time(sync, regions), decision());
  const TransferStatus status =
      co_await reduce_among_regions(world_, regions, regions.front(),
                                    fragment_wire_bytes(world_, sync.fragment));
  if (sync.reduction == Reduction::kRuns) {
    sync.reduction = status == TransferStatus::kOk ? Reduction::kDone : Reduction::kBroken;
  }
  changed_.notify();
}

void BarrierSyncs::hand_out(const Sync& sync, std::uint32_t version) {
  const Broadcast broadcast{sync.id, version, sync.step, sync.fragment, epoch_};
  for (const auto& replica : replicas_) {
    const std::uint16_t m = replica->job.learner();
    if (sync.given_up[m]) {
      world_.say(tape::BroadcastChanged{sync.id, m, sync.fragment, 0});
    } else if (sync.members[m]) {
      replica->inbox.push_back(broadcast);
      if (world_.training.late == LatePolicy::kStale) replica->job.end_stretch_soon();
    } else if (receives(*replica)) {
      const std::uint16_t source = nearest_member_region(sync, replica->job.region());
      world_.conductor.spawn(deliver(*replica, broadcast, source), decision());
    } else {
      world_.say(tape::BroadcastChanged{sync.id, m, sync.fragment, 0});
    }
  }
}

std::uint16_t BarrierSyncs::nearest_member_region(const Sync& sync, std::uint16_t target) const {
  const std::vector<std::uint16_t> regions = regions_of(sync);
  std::uint16_t nearest = regions.front();
  Nanoseconds least = base::kNever;
  for (const std::uint16_t region : regions) {
    if (region == target) return target;
    if (!world_.transport.reachable(region, target)) continue;
    const Nanoseconds delay = world_.transport.path_one_way(region, target);
    if (delay < least) nearest = region;
    least = std::min(least, delay);
  }
  return nearest;
}

// To one that listens since the all-reduce began. What is lost on the way, the next version replaces.
engine::Process BarrierSyncs::deliver(Replica& replica, Broadcast broadcast, std::uint16_t source) {
  const std::uint32_t number = replica.listening_number;
  const TransferStatus status = co_await world_.transport.send(
      {source, replica.job.region(), fragment_wire_bytes(world_, broadcast.fragment)},
      tape::TrafficClass::kFragment, decision());
  if (status == TransferStatus::kOk && broadcast.epoch == epoch_ &&
      broadcast.version == versions_[broadcast.fragment]) {
    newest_regions_[broadcast.fragment].insert(replica.job.region());
  }
  const bool meant = replica.listening && replica.listening_number == number;
  if (status != TransferStatus::kOk || !meant || broadcast.epoch != epoch_) {
    world_.say(tape::BroadcastChanged{broadcast.sync, replica.job.learner(), broadcast.fragment, 0});
    co_return;
  }
  replica.inbox.push_back(broadcast);
  replica.job.end_stretch_soon();
}

}  // namespace sim::methods

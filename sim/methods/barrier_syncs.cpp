// sim/methods/barrier_syncs.cpp: see barrier_syncs.h.
#include "sim/methods/barrier_syncs.h"

#include <algorithm>
#include <map>

#include "sim/engine/collectives.h"
#include "sim/methods/fragment_traffic.h"

namespace sim::methods {

using tape::LossReason;
using tape::TransferStatus;

BarrierSyncs::BarrierSyncs(World& world, Replicas& replicas)
    : world_(world),
      replicas_(replicas),
      changed_(world.conductor),
      meeting_(find_meeting()),
      versions_(static_cast<std::size_t>(world.training.fragments), 0),
      closed_step_(versions_.size(), 0) {
  if (world.training.checkpoint.every > 0) next_checkpoint_ = world.training.checkpoint.every;
}

void BarrierSyncs::arrive(Replica& replica) {
  const std::uint32_t step = replica.job.step();
  if (replica.arrived_step >= step) return;
  replica.arrived_step = step;
  for (const std::uint16_t p : fragments_due(world_.training, step)) {
    if (Sync* sync = find(p, step)) {
      if (!sync->reducing) join(*sync, replica);
      continue;
    }
    const bool in_flight =
        std::ranges::any_of(open_, [&](const auto& sync) { return sync->fragment == p; });
    if (in_flight) {
      skip(p, step, LossReason::kInFlightLimit);
    } else if (closed_step_[p] >= step) {
      skip(p, step, LossReason::kUnreachable);  // the others merged without it
    } else {
      join(open(p, step), replica);
    }
  }
  look_again();
}

BarrierSyncs::Sync* BarrierSyncs::find(std::uint16_t fragment, std::uint32_t step) {
  const auto found = std::ranges::find_if(open_, [&](const auto& sync) {
    return sync->fragment == fragment && sync->step == step;
  });
  return found == open_.end() ? nullptr : found->get();
}

BarrierSyncs::Sync& BarrierSyncs::open(std::uint16_t fragment, std::uint32_t step) {
  auto sync = std::make_unique<Sync>();
  sync->id = next_sync_++;
  sync->step = step;
  sync->fragment = fragment;
  sync->arrived.assign(replicas_.size(), false);
  sync->given_up.assign(replicas_.size(), false);
  open_.push_back(std::move(sync));
  world_.conductor.spawn(run(*open_.back()), decision());
  return *open_.back();
}

void BarrierSyncs::join(Sync& sync, Replica& replica) {
  const std::size_t p = sync.fragment;
  const std::uint16_t m = replica.job.learner();
  sync.arrived[m] = true;
  const auto steps = static_cast<std::uint32_t>(replica.counted_steps(p));
  const std::uint64_t tokens = replica.counted_tokens(p);
  if (tokens == 0 || sits_out(replica, sync.fragment)) return;
  auto& counter = replica.counters[p];
  counter.taken_sync = sync.id;
  counter.taken_step = replica.job.step();
  world_.say(tape::FragmentTaken{tokens, steps, sync.id, replica.job.step(), counter.held_version, m,
                                 replica.job.incarnation(), sync.fragment});
  const double weight =
      world_.training.token_weights
          ? optim::token_weight(static_cast<double>(tokens), static_cast<double>(steps))
          : 1.0;
  const auto place = std::ranges::upper_bound(sync.takes, m, {}, &Take::learner);
  sync.takes.insert(place, {m, replica.job.incarnation(), weight});
}

// With nobody else to bring the progress, it brings its own.
bool BarrierSyncs::sits_out(const Replica& replica, std::uint16_t fragment) const {
  if (replica.counters[fragment].anchored) return false;
  return std::ranges::any_of(replicas_, [&](const auto& other) {
    return other.get() != &replica && other->can_contribute() &&
           other->counters[fragment].anchored;
  });
}

// Said once for all learners.
void BarrierSyncs::skip(std::uint16_t fragment, std::uint32_t step, LossReason reason) {
  if (reason == LossReason::kInFlightLimit && closed_step_[fragment] >= step) return;
  if (reason == LossReason::kInFlightLimit) closed_step_[fragment] = step;
  world_.say(tape::FragmentSkipped{step, fragment, reason});
}

bool BarrierSyncs::holds_back(const Replica& replica) {
  const std::uint16_t m = replica.job.learner();
  const std::int64_t step = replica.job.step();
  bool held = false;
  for (const auto& sync : open_) {
    const std::int64_t due = std::int64_t{sync->step} + world_.training.overlap_steps;
    if (due > step || sync->given_up[m]) continue;
    if (world_.training.late == LatePolicy::kSkip) sync->given_up[m] = true;
    held |= world_.training.late == LatePolicy::kBlock;
  }
  return held;
}

std::uint32_t BarrierSyncs::steps_until_next(const Replica& replica) const {
  const std::uint32_t step = replica.job.step();
  const auto tau = static_cast<std::uint32_t>(world_.training.overlap_steps);
  std::uint32_t next = UINT32_MAX;
  const auto consider = [&](std::uint32_t at) {
    if (at > step) next = std::min(next, at);
  };
  for (const auto& sync : open_) consider(sync->step + tau);
  for (const Broadcast& broadcast : replica.inbox) consider(broadcast.step + tau);
  const auto period = static_cast<std::uint32_t>(world_.training.sync_every);
  for (std::uint32_t at = step + 1; at <= step + period && at < next; ++at) {
    if (!fragments_due(world_.training, at).empty()) consider(at);
  }
  return next - step;
}

// One outer update of one fragment, from the barrier to the adoption of its result.
engine::Process BarrierSyncs::run(Sync& sync) {
  for (;;) {
    while (!sync.abandoned && !ready(sync)) co_await changed_.wait(decision());
    if (world_.training.on_loss != LossPolicy::kWait) drop_unreachable(sync);
    if (sync.abandoned || sync.takes.empty()) {
      world_.say(tape::FragmentSkipped{sync.step, sync.fragment, LossReason::kNoQuorum});
      break;
    }
    sync.reducing = true;
    sync.broken = false;
    const TransferStatus status = co_await all_reduce(sync);
    sync.reducing = false;
    if (status == TransferStatus::kOk && !sync.broken) {
      publish(sync);
      break;
    }
  }
  close(sync);
}

bool BarrierSyncs::ready(const Sync& sync) const {
  const bool all_here = std::ranges::all_of(replicas_, [&](const auto& replica) {
    return sync.arrived[replica->job.learner()] || !awaits(sync, *replica);
  });
  if (!all_here || world_.training.on_loss != LossPolicy::kWait) return all_here;
  return std::ranges::all_of(sync.takes, [&](const Take& take) {
    return meets(replicas_[take.learner]->job.region());
  });
}

bool BarrierSyncs::awaits(const Sync& sync, const Replica& replica) const {
  if (replica.arrived_step >= sync.step) return false;  // it has passed by
  if (world_.training.on_loss == LossPolicy::kWait) return true;
  return replica.can_contribute() && meets(replica.job.region());
}

void BarrierSyncs::network_changed() {
  meeting_ = find_meeting();
  look_again();
}

// Of the groups of regions that reach each other, that with most learners; ties: of the lowest region.
std::vector<std::uint16_t> BarrierSyncs::find_meeting() const {
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

bool BarrierSyncs::meets(std::uint16_t region) const {
  return std::ranges::binary_search(meeting_, region);
}

bool BarrierSyncs::receives(const Sync& sync, const Replica& replica) const {
  return replica.listening && !sync.given_up[replica.job.learner()] &&
         meets(replica.job.region());
}

// Of all that give or receive, ascending.
std::vector<std::uint16_t> BarrierSyncs::regions_of(const Sync& sync) const {
  std::vector<std::uint16_t> regions;
  for (const Take& take : sync.takes) regions.push_back(replicas_[take.learner]->job.region());
  for (const auto& replica : replicas_) {
    if (receives(sync, *replica)) regions.push_back(replica->job.region());
  }
  std::ranges::sort(regions);
  regions.erase(std::unique(regions.begin(), regions.end()), regions.end());
  return regions;
}

engine::Task<TransferStatus> BarrierSyncs::all_reduce(Sync& sync) {
  const std::vector<std::uint16_t> regions = regions_of(sync);
  const std::int64_t bytes = fragment_wire_bytes(world_, sync.fragment);
  Nanoseconds local = 0;
  for (const std::uint16_t region : regions) {
    if (world_.network.model == engine::NetworkModel::kNone) break;
    const auto here = std::ranges::count_if(replicas_, [&](const auto& replica) {
      return replica->job.region() == region && receives(sync, *replica);
    });
    local = std::max(local, engine::local_all_reduce(world_.network.regions[region],
                                                     static_cast<std::size_t>(here), bytes));
  }
  co_await world_.conductor.sleep_for(local, decision());
  const TransferStatus status =
      co_await reduce_among_regions(world_, regions, regions.front(), bytes);
  co_return status;
}

void BarrierSyncs::drop_unreachable(Sync& sync) {
  std::erase_if(sync.takes, [&](const Take& take) {
    if (meets(replicas_[take.learner]->job.region())) return false;
    world_.say(tape::FragmentLost{sync.id, take.learner, sync.fragment, LossReason::kUnreachable});
    return true;
  });
}

void BarrierSyncs::lose_takes(const Replica& replica) {
  const std::uint16_t m = replica.job.learner();
  for (const auto& sync : open_) {
    const std::size_t lost =
        std::erase_if(sync->takes, [m](const Take& take) { return take.learner == m; });
    sync->arrived[m] = false;
    sync->broken = sync->broken || lost > 0;
    if (lost > 0) {
      world_.say(tape::FragmentLost{sync->id, m, sync->fragment, LossReason::kLearnerDied});
    }
  }
  look_again();
}

void BarrierSyncs::publish(const Sync& sync) {
  std::vector<tape::Contributor> contributors;
  for (const Take& take : sync.takes) {
    contributors.push_back({take.weight, take.learner, take.incarnation});
  }
  const std::uint32_t version = ++versions_[sync.fragment];
  world_.say(tape::FragmentMerged{contributors.data(), 0,
                                  static_cast<std::uint32_t>(contributors.size()), sync.id, version,
                                  sync.step, sync.fragment, epoch_});
  for (const auto& replica : replicas_) {
    if (!receives(sync, *replica)) continue;
    replica->inbox.push_back({sync.id, version, sync.step, sync.fragment, epoch_});
    if (world_.training.late == LatePolicy::kStale) replica->job.end_stretch_soon();
  }
  save_checkpoint_if_due(sync.step);
}

void BarrierSyncs::save_checkpoint_if_due(std::uint32_t step) {
  if (world_.conductor.now() < next_checkpoint_) return;
  next_checkpoint_ = world_.conductor.now() + world_.training.checkpoint.every;
  ++checkpoint_count_;
  saved_step_ = step;
  world_.say(tape::CheckpointSaved{step, tape::kNoLearner});
}

std::uint32_t BarrierSyncs::restore_checkpoint() {
  ++epoch_;
  std::ranges::fill(versions_, 0);
  for (std::uint32_t& closed : closed_step_) closed = std::min(closed, saved_step_);
  for (const auto& sync : open_) sync->abandoned = sync->broken = true;
  look_again();
  for (const auto& replica : replicas_) {
    for (auto& counter : replica->counters) counter.held_version = 0;
    replica->inbox.clear();
  }
  world_.say(tape::GlobalRestored{tape::kNoLearner, epoch_});
  if (world_.training.checkpoint.every > 0) {
    next_checkpoint_ = world_.conductor.now() + world_.training.checkpoint.every;
  }
  return saved_step_;
}

void BarrierSyncs::close(const Sync& sync) {
  if (!sync.abandoned) {
    closed_step_[sync.fragment] = std::max(closed_step_[sync.fragment], sync.step);
  }
  std::erase_if(open_, [&](const auto& candidate) { return candidate.get() == &sync; });
  for (const auto& replica : replicas_) replica->arrival.notify();
  look_again();
}

}  // namespace sim::methods

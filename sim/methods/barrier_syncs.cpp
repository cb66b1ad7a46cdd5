// sim/methods/barrier_syncs.cpp: see barrier_syncs.h.
#include "sim/methods/barrier_syncs.h"

#include <algorithm>
#include <map>

#include "sim/methods/fragment_traffic.h"

namespace sim::methods {

using tape::LossReason;
using tape::TransferStatus;

BarrierSyncs::BarrierSyncs(World& world, Replicas& replicas)
    : world_(world),
      replicas_(replicas),
      changed_(world.conductor),
      roll_(world, replicas, changed_),
      versions_(static_cast<std::size_t>(world.training.fragments), 0),
      newest_regions_(versions_.size()),
      closed_step_(versions_.size(), 0) {
  if (world.training.checkpoint.every > 0) next_checkpoint_ = world.training.checkpoint.every;
}

void BarrierSyncs::arrive(Replica& replica) {
  const std::uint32_t step = replica.job.step();
  if (replica.arrived_step >= step) return;
  replica.arrived_step = step;
  for (const std::uint16_t p : fragments_due(world_.training, step)) {
    if (Sync* sync = find(p, step)) {
      if (sync->reduction == Reduction::kNone) join(*sync, replica);
      continue;
    }
    const bool in_flight =
        std::ranges::any_of(open_, [&](const auto& sync) {
          return sync->fragment == p && !sync->abandoned;
        });
    if (in_flight) {
      skip(p, step, LossReason::kInFlightLimit);
    } else if (closed_step_[p] >= step) {
      skip(p, step, LossReason::kUnreachable);  // the others merged without it
    } else {
      join(open(p, step), replica);
    }
  }
  changed_.notify();
}

BarrierSyncs::Sync* BarrierSyncs::find(std::uint16_t fragment, std::uint32_t step) {
  const auto found = std::ranges::find_if(open_, [&](const auto& sync) {
    return sync->fragment == fragment && sync->step == step && !sync->abandoned;
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
  sync->members.assign(replicas_.size(), false);
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
    if (due > step || sync->given_up[m] || sync->abandoned) continue;
    // Without a version of its own it would never have a say: it adopts that one late.
    const bool anchored = replica.counters[sync->fragment].anchored;
    if (world_.training.late == LatePolicy::kSkip && anchored) sync->given_up[m] = true;
    held |= world_.training.late == LatePolicy::kBlock;
  }
  return held;
}

bool BarrierSyncs::is_behind(const Replica& replica) const {
  const std::uint32_t step = replica.job.step();
  return std::ranges::any_of(fragments_due(world_.training, step), [&](std::uint16_t p) {
    return closed_step_[p] > step;
  });
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
    if (!newest_is_there(sync)) {
      co_await bring_newest(sync);
      continue;
    }
    const bool done = co_await reduce(sync);
    if (done) {
      publish(sync);
      break;
    }
    hang(sync, world_.training.elasticity.timeout);
  }
  close(sync);
}

bool BarrierSyncs::ready(const Sync& sync) const {
  if (world_.conductor.now() < sync.hangs_until) return false;
  const bool all_here = std::ranges::all_of(replicas_, [&](const auto& replica) {
    return sync.arrived[replica->job.learner()] || !awaits(sync, *replica);
  });
  if (!all_here) return false;
  const bool waits = world_.training.on_loss == LossPolicy::kWait;
  return std::ranges::all_of(sync.takes, [&](const Take& take) {
    const std::uint16_t region = replicas_[take.learner]->job.region();
    return roll_.meets(region) || (!waits && !roll_.expects_region(region));
  });
}

bool BarrierSyncs::awaits(const Sync& sync, const Replica& replica) const {
  if (replica.arrived_step >= sync.step) return false;  // it has passed by
  if (world_.training.on_loss == LossPolicy::kWait) return true;
  return roll_.expects_learner(replica) && roll_.expects_region(replica.job.region());
}

void BarrierSyncs::learner_changed(const Replica& replica) {
  roll_.learner_changed(replica);
  changed_.notify();
}

void BarrierSyncs::network_changed() {
  roll_.network_changed();
  changed_.notify();
}

bool BarrierSyncs::is_contributing(const Replica& replica) const {
  return std::ranges::any_of(open_, [&](const auto& sync) {
    return sync->reduction != Reduction::kNone &&
           std::ranges::find(sync->takes, replica.job.learner(), &Take::learner) !=
               sync->takes.end();
  });
}

bool BarrierSyncs::is_current(const Replica& replica) const {
  for (std::size_t p = 0; p < versions_.size(); ++p) {
    std::uint32_t newest = replica.counters[p].held_version;
    for (const Broadcast& broadcast : replica.inbox) {
      if (broadcast.fragment == p) newest = std::max(newest, broadcast.version);
    }
    if (newest < versions_[p]) return false;
  }
  return true;
}

void BarrierSyncs::hang(Sync& sync, Nanoseconds duration) {
  sync.hangs_until = std::max(sync.hangs_until, world_.conductor.now() + duration);
  if (duration == 0) return;
  world_.conductor.call_at(sync.hangs_until, decision(), [this] { changed_.notify(); });
}

void BarrierSyncs::drop_unreachable(Sync& sync) {
  std::erase_if(sync.takes, [&](const Take& take) {
    if (roll_.meets(replicas_[take.learner]->job.region())) return false;
    world_.say(tape::FragmentLost{sync.id, take.learner, sync.fragment, LossReason::kUnreachable});
    return true;
  });
}

void BarrierSyncs::lose_takes(const Replica& replica) {
  const std::uint16_t region = replica.job.region();
  const bool others_hold = std::ranges::any_of(replicas_, [&](const auto& other) {
    return other->has_state && other->job.region() == region;
  });
  for (std::set<std::uint16_t>& regions : newest_regions_) {
    if (!others_hold) regions.erase(region);
  }
  const std::uint16_t m = replica.job.learner();
  for (const auto& sync : open_) {
    const std::size_t lost =
        std::erase_if(sync->takes, [m](const Take& take) { return take.learner == m; });
    if (lost > 0) {
      world_.say(tape::FragmentLost{sync->id, m, sync->fragment, LossReason::kLearnerDied});
    }
    const bool reducing = sync->reduction != Reduction::kNone && sync->members[m];
    if (reducing) sync->reduction = Reduction::kBroken;
    if (reducing || sync->arrived[m]) hang(*sync, world_.training.elasticity.detection);
    sync->arrived[m] = false;
  }
  changed_.notify();
}

void BarrierSyncs::publish(const Sync& sync) {
  std::vector<tape::Contributor> contributors;
  for (const Take& take : sync.takes) {
    contributors.push_back({take.weight, take.learner, take.incarnation});
  }
  merged_step_ = std::max(merged_step_, sync.step);
  const std::uint32_t version = ++versions_[sync.fragment];
  const std::vector<std::uint16_t> regions = regions_of(sync);
  newest_regions_[sync.fragment] = {regions.begin(), regions.end()};
  world_.say(tape::FragmentMerged{contributors.data(), 0,
                                  static_cast<std::uint32_t>(contributors.size()), sync.id, version,
                                  sync.step, sync.fragment, epoch_});
  hand_out(sync, version);
  save_checkpoint_if_due(sync.step);
}

void BarrierSyncs::save_checkpoint_if_due(std::uint32_t step) {
  if (world_.conductor.now() < next_checkpoint_) return;
  // As many steps lie between two saves as in a job that stops to save.
  next_checkpoint_ = world_.conductor.now() + world_.training.checkpoint.save +
                     world_.training.checkpoint.every;
  ++checkpoint_count_;
  saved_step_ = step;
  world_.say(tape::CheckpointSaved{step, tape::kNoLearner});
}

// In a region that takes part; who has passed a merge by keeps the global fragment all the same.
bool BarrierSyncs::newest_is_there(const Sync& sync) const {
  const std::set<std::uint16_t>& regions = newest_regions_[sync.fragment];
  if (versions_[sync.fragment] == 0 || world_.network.model == engine::NetworkModel::kNone) return true;
  const auto stands_with = [&](const Replica& replica) {
    return regions.contains(replica.job.region());
  };
  return std::ranges::any_of(sync.takes, [&](const Take& take) {
           return stands_with(*replicas_[take.learner]);
         }) ||
         std::ranges::any_of(replicas_, [&](const auto& replica) {
           return receives(*replica) && replica->has_state && stands_with(*replica);
         });
}

void BarrierSyncs::state_brought(std::uint16_t source_region, std::uint16_t target_region) {
  for (std::set<std::uint16_t>& regions : newest_regions_) {
    if (regions.contains(source_region)) regions.insert(target_region);
  }
}

// One transfer from a host in reach that holds the newest version. Where there is none, those that are
// there go on from what they have: a new epoch.
engine::Task<> BarrierSyncs::bring_newest(Sync& sync) {
  const Replica& taker = *replicas_[sync.takes.front().learner];
  for (const std::uint16_t region : newest_regions_[sync.fragment]) {
    if (!world_.transport.reachable(region, taker.job.region())) continue;
    const auto bytes = static_cast<std::int64_t>(
        static_cast<double>(world_.shape().fragment_parameters[sync.fragment]) *
        world_.model.syncer_state_bytes);
    const TransferStatus status = co_await world_.transport.send(
        {region, taker.job.region(), bytes}, tape::TrafficClass::kRecovery, decision());
    if (status == TransferStatus::kOk) newest_regions_[sync.fragment].insert(taker.job.region());
    co_return;
  }
  go_on_with(taker);
}

bool BarrierSyncs::newest_is_gone() const {
  bool any = false;
  for (const auto& replica : replicas_) {
    if (!replica->has_state) continue;
    any = true;
    if (is_current(*replica)) return false;
  }
  return any;
}

void BarrierSyncs::go_on_with(const Replica& replica) {
  abandon_round();
  begin_epoch();
  merged_step_ = replica.job.step();
  abandon_syncs_after(merged_step_);
  world_.say(tape::GlobalRestored{replica.job.learner(), epoch_});
}

// Versions count from 1 again, and what was received before means nothing any more.
void BarrierSyncs::begin_epoch() {
  ++epoch_;
  std::ranges::fill(versions_, 0);
  for (std::set<std::uint16_t>& regions : newest_regions_) regions.clear();
  for (const auto& replica : replicas_) {
    for (auto& counter : replica->counters) counter.held_version = 0;
    replica->inbox.clear();
  }
}

std::uint32_t BarrierSyncs::restore_checkpoint() {
  begin_epoch();
  merged_step_ = saved_step_;
  abandon_syncs_after(saved_step_);
  world_.say(tape::GlobalRestored{tape::kNoLearner, epoch_});
  if (world_.training.checkpoint.every > 0) {
    next_checkpoint_ = world_.conductor.now() + world_.training.checkpoint.every;
  }
  return saved_step_;
}

void BarrierSyncs::abandon_round() {
  for (const auto& sync : open_) {
    for (const Take& take : sync->takes) {
      world_.say(
          tape::FragmentLost{sync->id, take.learner, sync->fragment, LossReason::kMergeFailed});
    }
    sync->takes.clear();
  }
  abandon_syncs_after(merged_step_);
}

void BarrierSyncs::abandon_syncs_after(std::uint32_t step) {
  for (std::uint32_t& closed : closed_step_) closed = std::min(closed, step);
  for (const auto& sync : open_) {
    sync->abandoned = true;
    if (sync->reduction != Reduction::kNone) sync->reduction = Reduction::kBroken;
  }
  changed_.notify();
}

void BarrierSyncs::close(const Sync& sync) {
  if (!sync.abandoned) {
    closed_step_[sync.fragment] = std::max(closed_step_[sync.fragment], sync.step);
  }
  std::erase_if(open_, [&](const auto& candidate) { return candidate.get() == &sync; });
  for (const auto& replica : replicas_) replica->arrival.notify();
  changed_.notify();
}

}  // namespace sim::methods

// sim/methods/syncer_recovery.cpp: the death of a syncer's shard, and how fragments come back to it.
#include <algorithm>

#include "sim/methods/donors.h"
#include "sim/methods/fragment_traffic.h"
#include "sim/methods/syncer.h"

namespace sim::methods {

using tape::TransferStatus;

void Syncer::shard_lost(std::size_t index) {
  Shard& lost = shards_[index];
  lost.up = false;
  ++lost.deaths;
  lost.source = SIZE_MAX;
  world_.conductor.kill(lost.restoring);
  unfollow(index);
  if (reviving_ == index) reviving_ = SIZE_MAX;
  noticed_at_ = std::max(noticed_at_,
                         world_.conductor.now() + world_.training.elasticity.detection);
  if (world_.training.syncer.on_kill == OnSyncerKill::kLose) holders_.forget(index);
  forget_lead();
  restart_fetches_from(index);
}

void Syncer::host_lost(std::size_t index) {
  holders_.forget(index);
  unfollow(index);
  forget_lead();
  restart_fetches_from(index);
}

// Whoever copied from it looks elsewhere; and with it the last holder of something may have gone, which
// those that lack it are told.
void Syncer::restart_fetches_from(std::size_t source) {
  for (std::size_t i = 0; i < shards_.size(); ++i) {
    if (shards_[i].source == source) world_.conductor.kill(shards_[i].restoring);
    if (shards_[i].up) start_restoring(i);
  }
  shards_changed_.notify();
}

void Syncer::shard_returned(std::size_t index) {
  shards_[index].up = true;
  forget_lead();
  start_restoring(index);
  shards_changed_.notify();
  reported_.notify();
}

// recovery = checkpoint: a program that died goes back to the store, so with the last learner's state
// goes what the shards hold.
void Syncer::learner_failed(const Replica& replica) {
  snapshots_.learner_failed(replica);
  if (world_.training.elasticity.recovery != Recovery::kCheckpoint || !nobody_has_state()) return;
  for (std::size_t i = 0; i < shards_.size(); ++i) host_lost(i);
}

bool Syncer::nobody_has_state() const {
  return std::ranges::none_of(replicas_, [](const auto& replica) { return replica->has_state; });
}

// Does nothing where it is under way, or nothing is lacking.
void Syncer::start_restoring(std::size_t index) {
  if (world_.conductor.alive(shards_[index].restoring)) return;
  if (holders_.lacking(index) == 0) return;
  shards_[index].source = SIZE_MAX;
  unfollow(index);
  shards_[index].restoring = world_.conductor.spawn(restore(index), decision());
}

engine::Process Syncer::restore(std::size_t index) {
  while (holders_.lacking(index) > 0) {
    if (!any_fragment_lost()) {
      co_await fetch_next(index);
    } else if (reviving_ != SIZE_MAX) {
      co_await shards_changed_.wait(decision());
    } else {
      reviving_ = index;
      co_await revive(index);
      reviving_ = SIZE_MAX;
      shards_changed_.notify();
    }
  }
  reported_.notify();
}

bool Syncer::fragment_lost(std::size_t fragment) const {
  for (std::size_t i = 0; i < shards_.size(); ++i) {
    if (shards_[i].up && holders_.holds(i, fragment)) return false;
  }
  return true;
}

// Where no shard is up there is nobody to miss anything.
bool Syncer::any_fragment_lost() const {
  bool any_up = false;
  for (std::size_t i = 0; i < shards_.size(); ++i) {
    if (shards_[i].up && holders_.lacking(i) == 0) return false;
    any_up = any_up || shards_[i].up;
  }
  if (!any_up) return false;
  for (std::size_t p = 0; p < holders_.fragment_count(); ++p) {
    if (fragment_lost(p)) return true;
  }
  return false;
}

// --- From another shard ---

std::optional<std::size_t> Syncer::nearest_holder(std::size_t index, std::size_t fragment) const {
  std::optional<std::size_t> nearest;
  const std::uint16_t region = shards_[index].region;
  for (std::size_t i = 0; i < shards_.size(); ++i) {
    if (!shards_[i].up || !holders_.holds(i, fragment) ||
        !world_.transport.reachable(shards_[i].region, region)) {
      continue;
    }
    if (!nearest || distance(world_, shards_[i].region, region) <
                        distance(world_, shards_[*nearest].region, region)) {
      nearest = i;
    }
  }
  return nearest;
}

// A region fetches once over the wide links and fans out inside: its first shard goes ahead.
bool Syncer::sibling_goes_first(std::size_t index, std::size_t source) const {
  const std::uint16_t region = shards_[index].region;
  return shards_[source].region != region &&
         std::any_of(shards_.begin(), shards_.begin() + static_cast<std::ptrdiff_t>(index),
                     [region](const Shard& s) { return s.up && s.region == region; });
}

// All that it lacks and that one holder has: the nearest holder of the first of them. Nothing that is
// being merged now, in which it has no part.
std::vector<std::uint16_t> Syncer::next_to_fetch(std::size_t index, std::size_t& source) const {
  std::vector<std::uint16_t> fragments;
  for (std::uint16_t p = 0; p < holders_.fragment_count(); ++p) {
    if (holders_.holds(index, p) || fragment_in_flight(p)) continue;
    if (fragments.empty()) {
      const std::optional<std::size_t> nearest = nearest_holder(index, p);
      if (!nearest || sibling_goes_first(index, *nearest)) continue;
      source = *nearest;
    } else if (!holders_.holds(source, p)) {
      continue;
    }
    fragments.push_back(p);
  }
  return fragments;
}

// One copy of fragments with their outer state, or one wait for something to change.
engine::Task<> Syncer::fetch_next(std::size_t index) {
  Shard& shard = shards_[index];
  std::size_t source = 0;
  const std::vector<std::uint16_t> fragments = next_to_fetch(index, source);
  if (fragments.empty()) {
    co_await shards_changed_.wait(decision());
    co_return;
  }
  double parameters = 0;
  for (const std::uint16_t p : fragments) {
    parameters += static_cast<double>(world_.shape().fragment_parameters[p]);
    shard.follows[p] = true;
  }
  shard.source = source;
  const auto bytes = static_cast<std::int64_t>(parameters * world_.model.syncer_state_bytes);
  const TransferStatus status = co_await world_.transport.send(
      {shards_[source].region, shard.region, bytes}, tape::TrafficClass::kRecovery, decision());
  shard.source = SIZE_MAX;
  if (status != TransferStatus::kOk) {
    unfollow(index);
    co_await notice_trouble(status);
    co_return;
  }
  for (const std::uint16_t p : fragments) {
    // A merge that it had no part in, or a new epoch, made what arrived old.
    if (!shard.follows[p]) continue;
    shard.follows[p] = false;
    holders_.receive(index, p);
    send_to_learners(index, p);
  }
  forget_lead();
  shards_changed_.notify();
}

void Syncer::unfollow(std::size_t index) {
  shards_[index].follows.assign(holders_.fragment_count(), false);
}

// --- When nobody holds the newest any more ---

// One attempt to have something again that all can go on from.
engine::Task<> Syncer::revive(std::size_t index) {
  if (go_back_to_kept(index)) co_return;
  if (nobody_has_state()) {
    co_await load_checkpoint(index);
  } else {
    co_await rebuild_from_learner(index);
  }
}

// Whether each lost fragment has an older version within reach.
bool Syncer::go_back_to_kept(std::size_t index) {
  const auto within_reach = [this, index](std::size_t i) {
    return shards_[i].up &&
           world_.transport.reachable(shards_[i].region, shards_[index].region);
  };
  std::vector<std::pair<std::size_t, std::size_t>> keepers;  // of (fragment, shard)
  for (std::size_t p = 0; p < holders_.fragment_count(); ++p) {
    if (!fragment_lost(p)) continue;
    const std::optional<std::size_t> keeper = holders_.keeper(p, within_reach);
    if (!keeper) return false;
    keepers.push_back({p, *keeper});
  }
  for (const auto& [p, keeper] : keepers) {
    holders_.go_back(p, keeper);
    void_versions(p);
  }
  forget_lead();
  return true;
}

// Versions of the epoch that has ended mean nothing to learners any more.
void Syncer::void_versions(std::size_t fragment) {
  newest_[fragment] = {.sync = UINT32_MAX};
  for (Shard& shard : shards_) shard.follows[fragment] = false;
  for (const auto& replica : replicas_) {
    replica->counters[fragment].held_version = 0;
    std::erase_if(replica->inbox,
                  [fragment](const Broadcast& b) { return b.fragment == fragment; });
  }
}

void Syncer::begin_new_epoch(std::size_t index, std::uint16_t learner) {
  const std::uint16_t epoch = holders_.begin_anew(index);
  for (std::size_t p = 0; p < holders_.fragment_count(); ++p) void_versions(p);
  world_.say(tape::GlobalRestored{learner, epoch});
  forget_lead();
}

// Others may have been quicker, or the learner's hosts may have died under way: then it is tried again.
engine::Task<> Syncer::rebuild_from_learner(std::size_t index) {
  const Replica* ahead = furthest_ahead(shards_[index]);
  if (!ahead) {
    co_await shards_changed_.wait(decision());
    co_return;
  }
  const std::uint16_t incarnation = ahead->job.incarnation();
  const TransferStatus status = co_await world_.transport.send(
      {ahead->job.region(), shards_[index].region, value_bytes(world_, world_.model.parameters)},
      tape::TrafficClass::kRecovery, decision());
  if (status != TransferStatus::kOk || !any_fragment_lost() || !ahead->has_state ||
      ahead->job.incarnation() != incarnation) {
    co_return;
  }
  begin_new_epoch(index, ahead->job.learner());
}

const Replica* Syncer::furthest_ahead(const Shard& shard) const {
  const Replica* ahead = nullptr;
  for (const auto& replica : replicas_) {
    if (!replica->has_state || !world_.transport.reachable(replica->job.region(), shard.region)) {
      continue;
    }
    if (!ahead || replica->job.step() > ahead->job.step()) ahead = replica.get();
  }
  return ahead;
}

// A program that starts anew and reads the store, as a job does.
engine::Task<> Syncer::load_checkpoint(std::size_t index) {
  co_await world_.conductor.sleep_for(
      world_.training.elasticity.restart + world_.training.checkpoint.load, decision());
  if (!any_fragment_lost() || !nobody_has_state()) co_return;
  if (world_.training.checkpoint.every > 0) {
    next_checkpoint_ = world_.conductor.now() + world_.training.checkpoint.every;
  }
  if (!world_.training.checkpoint.redo) {
    for (std::size_t p = 0; p < holders_.fragment_count(); ++p) holders_.receive(index, p);
    forget_lead();
    co_return;
  }
  begin_new_epoch(index, tape::kNoLearner);
  step_ = saved_step_ + 1;  // the one that is open
  std::ranges::fill(last_begun_, 0);
  for (const auto& replica : replicas_) {
    replica->job.jump_to_step(saved_step_);
    replica->job.receive_schedule_step(saved_step_);
  }
}

std::optional<std::uint16_t> Syncer::whole_source(const Replica& replica) const {
  std::optional<std::uint16_t> nearest;
  const std::uint16_t region = replica.job.region();
  for (std::size_t i = 0; i < shards_.size(); ++i) {
    const std::uint16_t here = shards_[i].region;
    if (!shards_[i].up || holders_.lacking(i) > 0 || !world_.transport.reachable(here, region)) {
      continue;
    }
    if (!nearest || distance(world_, here, region) < distance(world_, *nearest, region)) {
      nearest = here;
    }
  }
  return nearest;
}

}  // namespace sim::methods

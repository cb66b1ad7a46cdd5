// sim/methods/syncer_recovery.cpp: the death of a syncer's shard and how it becomes current again.
#include <algorithm>

#include "sim/methods/fragment_traffic.h"
#include "sim/methods/syncer.h"

namespace sim::methods {

using tape::TransferStatus;

void Syncer::shard_lost(std::size_t index) {
  Shard& lost = shards_[index];
  set_standing(lost, false, false);
  ++lost.deaths;
  lost.source = SIZE_MAX;
  world_.conductor.kill(lost.restoring);
  lost.empty = lost.empty || world_.training.syncer.on_kill == OnSyncerKill::kLose;
  for (std::size_t i = 0; i < shards_.size(); ++i) {
    if (shards_[i].source == index) start_restoring(i);  // its source died under way
  }
  shards_changed_.notify();  // who waited for its copy looks elsewhere
}

void Syncer::shard_returned(std::size_t shard) {
  set_standing(shards_[shard], true, shards_[shard].current);
  start_restoring(shard);
}

void Syncer::start_restoring(std::size_t shard) {
  world_.conductor.kill(shards_[shard].restoring);
  shards_[shard].source = SIZE_MAX;
  shards_[shard].restoring = world_.conductor.spawn(restore(shard), decision());
}

std::int64_t Syncer::state_bytes_missed(const Shard& shard) const {
  double parameters = 0;
  for (std::size_t p = 0; p < versions_.size(); ++p) {
    if (shard.empty || shard.held_versions[p] < versions_[p]) {
      parameters += static_cast<double>(world_.shape().fragment_parameters[p]);
    }
  }
  return static_cast<std::int64_t>(parameters * world_.model.syncer_state_bytes);
}

bool Syncer::any_current() const {
  return std::ranges::any_of(shards_, [](const Shard& s) { return s.up && s.current; });
}

// A shard becomes current again: by copying what it missed from the nearest current one, or, when
// none is left, by what it kept itself or what the learners hold.
engine::Process Syncer::restore(std::size_t index) {
  Shard& shard = shards_[index];
  for (bool restored = false; !restored;) {
    if (any_current()) {
      restored = co_await copy_shard(index);
    } else if (shard.empty) {
      restored = co_await rebuild_global(shard);
    } else {
      restored = true;
    }
  }
  set_standing(shard, true, true);
  shard.empty = false;
  shard.source = SIZE_MAX;
  shard.held_versions = versions_;
  shards_changed_.notify();
  reported_.notify();
}

const Syncer::Shard* Syncer::nearest_source(const Shard& shard) const {
  const Shard* source = nullptr;
  for (const Shard& candidate : shards_) {
    if (!candidate.up || !candidate.current ||
        !world_.transport.reachable(candidate.region, shard.region)) {
      continue;
    }
    if (!source || world_.transport.path_one_way(candidate.region, shard.region) <
                       world_.transport.path_one_way(source->region, shard.region)) {
      source = &candidate;
    }
  }
  return source;
}

// A region fetches once over the wide links and fans out inside: the first shard goes ahead.
bool Syncer::sibling_goes_first(std::size_t index, const Shard& source) const {
  const Shard& shard = shards_[index];
  return source.region != shard.region &&
         std::any_of(shards_.begin(), shards_.begin() + static_cast<std::ptrdiff_t>(index),
                     [&](const Shard& s) { return s.up && !s.current && s.region == shard.region; });
}

// One attempt, or one wait for something to change; whether the copy is there.
engine::Task<bool> Syncer::copy_shard(std::size_t index) {
  Shard& shard = shards_[index];
  const Shard* source = nearest_source(shard);
  if (!source || sibling_goes_first(index, *source)) {
    co_await shards_changed_.wait(decision());
    co_return false;
  }
  shard.source = static_cast<std::size_t>(source - shards_.data());
  const TransferStatus status = co_await world_.transport.send(
      {source->region, shard.region, state_bytes_missed(shard)}, tape::TrafficClass::kRecovery,
      decision());
  shard.source = SIZE_MAX;
  co_return status == TransferStatus::kOk;
}

// One attempt to take the learners' parameters as the global ones. Others may have been quicker, or
// the learner's hosts may have died under way: then it is tried again.
engine::Task<bool> Syncer::rebuild_global(const Shard& shard) {
  const bool any_state = std::ranges::any_of(replicas_, [](const auto& r) { return r->has_state; });
  if (!any_state) co_return true;  // the last merge is all that is left
  const Replica* ahead = furthest_ahead(shard);
  if (!ahead) {
    co_await shards_changed_.wait(decision());
    co_return false;
  }
  const std::uint16_t incarnation = ahead->job.incarnation();
  const std::int64_t bytes = wire_bytes(world_.model.parameters, world_.training.wire);
  const TransferStatus status =
      co_await world_.transport.send({ahead->job.region(), shard.region, bytes},
                                     tape::TrafficClass::kRecovery, decision());
  if (status != TransferStatus::kOk || any_current() || !ahead->has_state ||
      ahead->job.incarnation() != incarnation) {
    co_return false;
  }
  restore_global(ahead->job.learner());
  co_return true;
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

void Syncer::restore_global(std::uint16_t learner) {
  ++epoch_;
  std::ranges::fill(versions_, 0);
  for (Shard& shard : shards_) shard.empty = true;  // what they kept is of the old epoch
  for (const auto& replica : replicas_) {
    for (auto& counter : replica->counters) counter.held_version = 0;
    replica->inbox.clear();
  }
  world_.say(tape::GlobalRestored{learner, epoch_});
}

}  // namespace sim::methods

// sim/methods/syncer_shards.cpp: what moves between shards: all-reduce, gathering, death and return.
#include <algorithm>

#include "sim/engine/collectives.h"
#include "sim/methods/syncer.h"

namespace sim::methods {

using tape::TransferStatus;

// The up shards' region from which most learners can be reached; ties: the first in the file.
std::uint16_t Syncer::lead_region() const {
  std::uint16_t best = shards_.front().region;
  std::size_t most = 0;
  for (const Shard& shard : shards_) {
    if (!shard.up || !shard.current) continue;
    std::size_t reached = 0;
    for (const auto& replica : replicas_) {
      reached += world_.transport.reachable(shard.region, replica->job.region());
    }
    if (reached > most) {
      most = reached;
      best = shard.region;
    }
    if (reached == replicas_.size()) break;
  }
  return best;
}

bool Syncer::serves(const Replica& replica) const {
  const Shard& shard = shards_[shard_of(replica.job.learner())];
  return shard.up && shard.current &&
         world_.transport.reachable(shard.region, replica.job.region()) &&
         (central() || world_.transport.reachable(shard.region, lead_region()));
}

// Regions that hold a current shard and can talk to the lead.
std::vector<std::uint16_t> Syncer::merge_regions() const {
  const std::uint16_t lead = lead_region();
  std::vector<std::uint16_t> regions;
  for (const Shard& shard : shards_) {
    if (shard.up && shard.current && world_.transport.reachable(shard.region, lead)) {
      regions.push_back(shard.region);
    }
  }
  std::ranges::sort(regions);
  regions.erase(std::unique(regions.begin(), regions.end()), regions.end());
  return regions;
}

// Each taker's fragment into its own shard, again for those that are left when one breaks.
engine::Task<bool> Syncer::pull(Sync& sync) {
  while (!sync.takes.empty()) {
    std::vector<engine::Hop> pulls;
    for (const Take& take : sync.takes) {
      const std::uint16_t region = replicas_[take.learner]->job.region();
      pulls.push_back({region, region, sync.bytes});
    }
    const TransferStatus status = co_await world_.transport.exchange(
        std::move(pulls), tape::TrafficClass::kFragment, decision());
    if (status == TransferStatus::kOk) co_return true;
    drop_lost_takes(sync);
  }
  co_return false;
}

// Pull into each learner's own shard, all-reduce inside regions, then a ring among regions. What
// breaks is tried again among those that are left; a shard that this leaves out misses a version.
engine::Task<bool> Syncer::reduce_among_shards(Sync& sync) {
  const bool pulled = co_await pull(sync);
  if (!pulled) co_return false;
  constexpr int kAttempts = 8;  // assumed: as many changes of the network during one merge
  for (int attempt = 0; attempt < kAttempts && !sync.takes.empty(); ++attempt) {
    const std::vector<std::uint16_t> regions = merge_regions();
    if (regions.empty()) co_return false;
    const TransferStatus status = co_await all_reduce(regions, sync.bytes);
    if (status == TransferStatus::kOk) {
      leave_out_others(regions);
      co_return true;
    }
    drop_lost_takes(sync);
  }
  co_return false;
}

void Syncer::leave_out_others(const std::vector<std::uint16_t>& merged_regions) {
  for (std::size_t i = 0; i < shards_.size(); ++i) {
    Shard& shard = shards_[i];
    if (!shard.up || !shard.current) continue;
    if (std::ranges::binary_search(merged_regions, shard.region)) continue;
    shard.current = false;
    start_restoring(i);
  }
}

engine::Task<TransferStatus> Syncer::all_reduce(std::vector<std::uint16_t> regions,
                                                std::int64_t bytes) {
  Nanoseconds local = 0;
  std::size_t members = 0;
  for (const std::uint16_t region : regions) {
    std::size_t here = 0;
    for (const Shard& shard : shards_) here += shard.up && shard.current && shard.region == region;
    members += here;
    if (world_.network.model != engine::NetworkModel::kNone) {
      local = std::max(local, engine::local_all_reduce(world_.network.regions[region], here, bytes));
    }
  }
  const Nanoseconds fold = base::from_seconds(static_cast<double>(bytes) *
                                              static_cast<double>(members) /
                                              world_.training.syncer.merge_bytes_per_s);
  co_await world_.conductor.sleep_for(
      world_.network.model == engine::NetworkModel::kNone ? 0 : local + fold, decision());
  if (regions.size() == 1) co_return TransferStatus::kOk;

  const std::vector<std::uint16_t> ring = engine::best_ring(world_.transport, regions);
  if (!ring.empty()) {
    const TransferStatus status = co_await world_.transport.exchange(
        engine::ring_hops(ring, bytes), tape::TrafficClass::kFragment, decision());
    if (status != TransferStatus::kOk) co_return status;
    co_await world_.conductor.sleep_for(engine::ring_extra_latency(world_.transport, ring),
                                        decision());
    co_return TransferStatus::kOk;
  }
  // No closed ring is left: a star through the lead, in and out.
  const std::uint16_t lead = lead_region();
  std::vector<engine::Hop> in, out;
  for (const std::uint16_t region : regions) {
    if (region == lead) continue;
    in.push_back({region, lead, bytes});
    out.push_back({lead, region, bytes});
  }
  const TransferStatus status = co_await world_.transport.exchange(
      std::move(in), tape::TrafficClass::kFragment, decision());
  if (status != TransferStatus::kOk) co_return status;
  const TransferStatus sent = co_await world_.transport.exchange(
      std::move(out), tape::TrafficClass::kFragment, decision());
  co_return sent;
}

// Every taker's fragment over its link to the one syncer, whose own rate bounds them together.
engine::Task<bool> Syncer::gather_centrally(Sync& sync) {
  const SyncerOptions& options = world_.training.syncer;
  for (bool again = true; again;) {
    again = false;
    std::vector<engine::Hop> hops;
    for (const Take& take : sync.takes) {
      hops.push_back({replicas_[take.learner]->job.region(), shards_[0].region, sync.bytes});
    }
    if (hops.empty() || !shards_[0].up) co_return false;
    const double total = static_cast<double>(sync.bytes) * static_cast<double>(hops.size());
    const Nanoseconds start = world_.conductor.now();
    const TransferStatus status = co_await world_.transport.exchange(
        std::move(hops), tape::TrafficClass::kFragment, decision());
    if (status != TransferStatus::kOk) {
      const std::size_t before = sync.takes.size();
      drop_lost_takes(sync);
      if (sync.takes.size() == before) co_return false;
      again = true;
      continue;
    }
    if (world_.network.model == engine::NetworkModel::kNone) co_return true;
    const Nanoseconds nic_bound = start + base::from_seconds(total / options.nic_bytes_per_s);
    const Nanoseconds folded = std::max(world_.conductor.now(), nic_bound) +
                               base::from_seconds(total / options.merge_bytes_per_s);
    co_await world_.conductor.sleep_until(folded, decision());
  }
  co_return shards_[0].up;
}

void Syncer::shard_lost(std::size_t index) {
  Shard& lost = shards_[index];
  lost.up = false;
  lost.current = false;
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
  shards_[shard].up = true;
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
  shard.current = true;
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
    if (!source || world_.transport.one_way(candidate.region, shard.region) <
                       world_.transport.one_way(source->region, shard.region)) {
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
  const auto bytes = static_cast<std::int64_t>(static_cast<double>(world_.model.parameters) *
                                               world_.training.fragment_bytes);
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

// sim/methods/syncer_shards.cpp: what moves between shards in a merge: all-reduce and gathering.
#include <algorithm>

#include "sim/engine/collectives.h"
#include "sim/methods/fragment_traffic.h"
#include "sim/methods/syncer.h"

namespace sim::methods {

using tape::TransferStatus;

void Syncer::set_standing(Shard& shard, bool up, bool current) {
  shard.up = up;
  shard.current = current;
  lead_.reset();
}

std::uint16_t Syncer::lead_region() const {
  const std::uint32_t number = world_.transport.reachable_number();
  if (!lead_ || lead_->reachable_number != number) lead_ = {find_lead_region(), number};
  return lead_->region;
}

// The up shards' region from which most learners can be reached; ties: the first in the file.
std::uint16_t Syncer::find_lead_region() const {
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
    set_standing(shard, true, false);
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
  const TransferStatus status = co_await reduce_among_regions(world_, regions, lead_region(), bytes);
  co_return status;
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

}  // namespace sim::methods

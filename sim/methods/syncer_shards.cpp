// sim/methods/syncer_shards.cpp: who takes part in a merge, and what moves then: all-reduce and gathering.
#include <algorithm>
#include <map>

#include "sim/engine/collectives.h"
#include "sim/methods/fragment_traffic.h"
#include "sim/methods/syncer.h"

namespace sim::methods {

using tape::TransferStatus;

std::uint16_t Syncer::lead_region() const {
  const std::uint32_t number = world_.transport.reachable_number();
  if (!lead_ || lead_->reachable_number != number) lead_ = {find_lead_region(), number};
  return lead_->region;
}

// Of the up shards, those that lack least: the region from which most learners can be reached; ties: the
// first in the file. So a side that was cut off never leads past those that went on without it.
std::uint16_t Syncer::find_lead_region() const {
  std::uint16_t best = shards_.front().region;
  std::size_t least = SIZE_MAX, most = 0;
  for (std::size_t i = 0; i < shards_.size(); ++i) {
    const Shard& shard = shards_[i];
    const std::size_t lacking = holders_.lacking(i);
    if (!shard.up || lacking > least) continue;
    std::size_t reached = 0;
    for (const auto& replica : replicas_) {
      reached += world_.transport.reachable(shard.region, replica->job.region());
    }
    if (lacking < least || reached > most) {
      least = lacking;
      most = reached;
      best = shard.region;
    }
    if (lacking == 0 && reached == replicas_.size()) break;
  }
  return best;
}

// It is up, and can talk to the others.
bool Syncer::talks(const Shard& shard) const {
  return shard.up && (central() || world_.transport.reachable(shard.region, lead_region()));
}

bool Syncer::serves(const Replica& replica) const {
  const Shard& shard = shards_[shard_of(replica.job.learner())];
  return talks(shard) && world_.transport.reachable(shard.region, replica.job.region());
}

bool Syncer::serves(const Replica& replica, std::size_t fragment) const {
  return serves(replica) && holders_.holds(shard_of(replica.job.learner()), fragment);
}

// Those that hold the newest version, and those that fetch it; none where none holds it.
void Syncer::find_members(Sync& sync) const {
  sync.members.clear();
  bool any_holds = false;
  for (std::size_t i = 0; i < shards_.size(); ++i) {
    const bool holds = holders_.holds(i, sync.fragment);
    if (!(holds || shards_[i].follows[sync.fragment]) || !talks(shards_[i])) continue;
    any_holds = any_holds || holds;
    sync.members.push_back({i, shards_[i].deaths});
  }
  if (!any_holds) sync.members.clear();
}

void Syncer::drop_dead_members(Sync& sync) const {
  std::erase_if(sync.members, [this](const auto& member) {
    const Shard& shard = shards_[member.first];
    return !shard.up || shard.deaths != member.second;
  });
  const bool any_holds = std::ranges::any_of(sync.members, [&](const auto& member) {
    return holders_.holds(member.first, sync.fragment);
  });
  if (!any_holds) sync.members.clear();
}

// What hangs on somebody who has died is noticed after `detection`; a link that carries nothing any
// more, after `timeout`.
engine::Task<> Syncer::notice_trouble(TransferStatus status) {
  const ElasticityOptions& options = world_.training.elasticity;
  if (status == TransferStatus::kOk) co_return;
  if (status == TransferStatus::kLinkDown) {
    co_await world_.conductor.sleep_for(options.timeout, decision());
  }
  if (noticed_at_ > world_.conductor.now()) {
    co_await world_.conductor.sleep_until(noticed_at_, decision());
  }
}

// Each taker's fragment into its own shard, again for those that are left when one breaks.
engine::Task<bool> Syncer::pull(Sync& sync) {
  while (!sync.takes.empty()) {
    std::vector<engine::Hop> pulls;
    for (const Take& take : sync.takes) {
      const std::uint16_t region = replicas_[take.learner]->job.region();
      pulls.push_back({region, region, fragment_value_bytes(world_, sync.fragment)});
    }
    const TransferStatus status = co_await world_.transport.exchange(
        std::move(pulls), tape::TrafficClass::kFragment, decision());
    if (status == TransferStatus::kOk) co_return true;
    co_await notice_trouble(status);
    drop_lost_takes(sync);
  }
  co_return false;
}

// Pull into each learner's own shard, all-reduce inside regions, then among regions. What breaks is tried
// again among those that are left; a shard that this leaves out misses a version.
engine::Task<bool> Syncer::reduce_among_shards(Sync& sync) {
  const bool pulled = co_await pull(sync);
  if (!pulled) co_return false;
  constexpr int kAttempts = 8;  // assumed: as many changes of the network during one merge
  for (int attempt = 0; attempt < kAttempts && !sync.takes.empty(); ++attempt) {
    if (noticed_at_ > world_.conductor.now()) {
      co_await world_.conductor.sleep_until(noticed_at_, decision());
      drop_lost_takes(sync);
    }
    find_members(sync);
    if (sync.members.empty()) co_return false;
    const TransferStatus status = co_await all_reduce(sync);
    if (status == TransferStatus::kOk) co_return true;
    co_await notice_trouble(status);
    drop_lost_takes(sync);
  }
  co_return false;
}

// Each shard folds what passes it: about one payload, however many there are.
engine::Task<TransferStatus> Syncer::all_reduce(const Sync& sync) {
  std::map<std::uint16_t, std::size_t> here;  // members by region
  for (const auto& [shard, deaths] : sync.members) ++here[shards_[shard].region];
  std::vector<std::uint16_t> regions;
  Nanoseconds local = 0;
  for (const auto& [region, count] : here) {
    regions.push_back(region);
    local = std::max(local, engine::local_all_reduce(world_.network.regions[region], count,
                                                     sync.bytes));
  }
  const Nanoseconds fold = base::from_seconds(static_cast<double>(sync.bytes) /
                                              world_.training.syncer.merge_bytes_per_s);
  co_await world_.conductor.sleep_for(
      world_.network.model == engine::NetworkModel::kNone ? 0 : local + fold, decision());
  const TransferStatus status =
      co_await reduce_among_regions(world_, regions, lead_region(), sync.bytes);
  co_return status;
}

// Every taker's fragment over its link to the one syncer, whose own rate they share.
engine::Task<bool> Syncer::gather_centrally(Sync& sync) {
  while (!sync.takes.empty() && shards_[0].up) {
    std::vector<engine::Hop> hops;
    std::vector<SharedRate::Passage> passages;
    for (const Take& take : sync.takes) {
      hops.push_back({replicas_[take.learner]->job.region(), shards_[0].region, sync.bytes});
      if (nic_in_) passages.push_back(nic_in_->begin(static_cast<double>(sync.bytes)));
    }
    find_members(sync);
    const double total = static_cast<double>(sync.bytes) * static_cast<double>(hops.size());
    const TransferStatus status = co_await world_.transport.exchange(
        std::move(hops), tape::TrafficClass::kFragment, decision());
    if (status == TransferStatus::kOk) {
      for (const SharedRate::Passage passage : passages) {
        co_await nic_in_->through(passage, decision());
      }
      if (!nic_in_) co_return shards_[0].up;
      const double seconds = total / world_.training.syncer.merge_bytes_per_s;
      co_await world_.conductor.sleep_for(base::from_seconds(seconds), decision());
      co_return shards_[0].up;
    }
    for (const SharedRate::Passage passage : passages) nic_in_->drop(passage);
    const std::size_t before = sync.takes.size();
    co_await notice_trouble(status);
    drop_lost_takes(sync);
    if (sync.takes.size() == before) co_return false;
  }
  co_return false;
}

}  // namespace sim::methods

// sim/methods/syncer.h: Decoupled DiLoCo's syncer: quorum, grace, takes, merges, broadcasts.
//
// One logical process (Algorithm 2) on M shards, one beside each learner, that all-reduce a
// fragment among themselves; or one central shard that pulls and pushes over the links.
//
// When a shard dies: per-learner shards hold the global state M times, so the others go on; its
// learner cannot contribute until the shard has copied what it missed (on_kill = pause: the
// fragments merged meanwhile; lose: everything) from the nearest current shard. Central: merges
// stop until it is back; with `lose` the global parameters are then copied from the learner furthest
// ahead, outer momentum is zero and a new epoch begins. The same happens when no current shard is
// left anywhere and the first one comes back after `lose`. Where no learner holds a state either, the
// shard goes on with the last merge, as after `pause`: else nothing would be left to train.
// Source: arXiv:2604.21428, Algorithm 2 and sections 3.2, 4; deaths of shards are ours (the paper
// assumes that they do not happen).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/methods/grace.h"
#include "sim/methods/replica.h"
#include "sim/methods/snapshot_round.h"

namespace sim::methods {

class Syncer {
 public:
  Syncer(World& world, Replicas& replicas);

  void start();

  // One learner's per-step metadata on its way; start it after every step.
  engine::Process report(Replica& replica, Nanoseconds step_duration);

  std::size_t shard_count() const { return shards_.size(); }
  std::uint16_t shard_region(std::size_t shard) const { return shards_[shard].region; }
  void shard_lost(std::size_t shard);
  void shard_returned(std::size_t shard);
  // The shard that serves this learner is up and has every merge.
  bool serves(const Replica& replica) const;
  std::uint16_t serving_region(const Replica& replica) const {
    return shards_[shard_of(replica.job.learner())].region;
  }
  void network_changed();
  // A learner lost its state, or was left with too few slices.
  void learner_failed(const Replica& replica) { snapshots_.learner_failed(replica); }
  // Notified when a shard becomes current or dies, when the network changes, and when a learner's
  // state is lost.
  engine::Signal& shards_changed() { return shards_changed_; }
  const std::vector<std::uint32_t>& versions() const { return versions_; }
  std::uint16_t epoch() const { return epoch_; }

 private:
  struct Shard {
    std::uint16_t region;
    std::vector<std::uint32_t> held_versions;  // when it was last current, (P)
    bool up = true, current = true;
    bool empty = false;                        // holds nothing: all must be copied
    std::uint32_t deaths = 0;
    std::size_t source = SIZE_MAX;             // the shard that it copies from
    engine::ProcessId restoring = {};
  };
  struct Take {
    std::uint16_t learner, incarnation;
    std::uint32_t shard_deaths;  // of the shard that holds it, when it was taken
    double weight;
  };
  struct Sync {
    std::uint32_t id, step;
    std::uint16_t fragment;
    Nanoseconds first_report, decided;
    std::vector<Take> takes;
    std::int64_t bytes;
  };

  engine::Process collect();
  engine::Process sync(std::uint16_t fragment, std::uint32_t step, Nanoseconds first_report,
                       std::vector<std::uint16_t> members);
  engine::Process push(std::uint16_t learner, Broadcast broadcast, std::int64_t bytes);
  engine::Process restore(std::size_t shard);
  engine::Task<bool> pull(Sync& sync);
  engine::Task<bool> reduce_among_shards(Sync& sync);
  engine::Task<bool> gather_centrally(Sync& sync);
  engine::Task<tape::TransferStatus> all_reduce(std::vector<std::uint16_t> regions,
                                                std::int64_t bytes);
  void begin_due(std::uint32_t step, Nanoseconds first_report,
                 const std::vector<std::uint16_t>& members);
  void take(Sync& sync, const std::vector<std::uint16_t>& members);
  void drop_lost_takes(Sync& sync);
  void lose_take(const Sync& sync, const Take& take, tape::LossReason reason);
  void leave_out_others(const std::vector<std::uint16_t>& merged_regions);
  void publish(const Sync& sync);
  void give_up(Sync& sync, tape::LossReason reason);
  void settle(std::uint16_t fragment, std::uint32_t step);
  void end_sync(const Sync& sync);
  void deliver(Replica& replica, const Broadcast& broadcast);
  void start_restoring(std::size_t shard);
  const Shard* nearest_source(const Shard& shard) const;
  bool sibling_goes_first(std::size_t shard, const Shard& source) const;
  engine::Task<bool> copy_shard(std::size_t shard);
  engine::Task<bool> rebuild_global(const Shard& shard);
  const Replica* furthest_ahead(const Shard& shard) const;
  bool any_current() const;
  void restore_global(std::uint16_t learner);

  bool pinned() const { return world_.training.adoption == Adoption::kPinned; }
  bool has_reported(const Replica& replica) const;
  bool central() const { return world_.training.syncer.placement == SyncerPlacement::kCentral; }
  std::size_t shard_of(std::uint16_t learner) const { return central() ? 0 : learner; }
  void set_standing(Shard& shard, bool up, bool current);
  std::uint16_t lead_region() const;
  std::uint16_t find_lead_region() const;
  std::size_t reporter_count() const;
  std::size_t expected_count() const;
  std::vector<std::uint16_t> consume_reports();
  Nanoseconds first_report_date() const;
  std::int64_t state_bytes_missed(const Shard& shard) const;
  std::vector<std::uint16_t> merge_regions() const;
  engine::Turn decision() const { return {engine::Priority::kDecision, 0}; }
  bool fragment_in_flight(std::uint16_t fragment) const;

  World& world_;
  Replicas& replicas_;
  SnapshotRound snapshots_;
  std::vector<Shard> shards_;
  // What lead_region() last found; asked for with every report.
  struct Lead {
    std::uint16_t region;
    std::uint32_t reachable_number;  // of the transport, then
  };
  mutable std::optional<Lead> lead_;
  engine::Signal reported_, shards_changed_;
  Tracked step_estimate_, quorum_estimate_, sync_estimate_;
  std::vector<std::uint32_t> versions_;         // of each fragment, (P)
  std::vector<std::uint32_t> in_flight_;        // fragments being merged
  std::vector<std::uint16_t> late_;             // due, to be merged when there is room
  std::uint32_t step_ = 0, next_sync_ = 0;
  std::uint16_t epoch_ = 1;
};

}  // namespace sim::methods

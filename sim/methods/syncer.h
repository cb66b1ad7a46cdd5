// sim/methods/syncer.h: Decoupled DiLoCo's syncer: quorum, grace, takes, merges, broadcasts.
//
// One logical process (Algorithm 2) on M shards, one beside each learner, that all-reduce a
// fragment among themselves; or one central shard that pulls and pushes over the links.
//
// Shards hold fragments one by one (sim/methods/fragment_holders.h). A merge of a fragment takes place
// among the shards that hold its newest version and can talk to each other. One that was away fetches
// what it lacks from the nearest holder, and from the moment at which it begins to fetch a fragment it
// has part in that fragment's all-reduces too: it keeps the sums and applies them, in order, to what
// arrives (as learners keep broadcasts, Appendix E.3). So however slow the copy is, it comes to an end.
//
// Deaths. A shard whose process is killed keeps its memory (on_kill = pause) or not (lose); one whose
// host dies (island, region) loses it. When no shard that is up holds a fragment's newest version, the
// newest older one that a shard keeps becomes the global one. When none is kept either, the global
// parameters are copied from the learner furthest ahead, with zero outer momentum; and when no learner
// holds a state, the last checkpoint is loaded (none: the initial values), and training goes on from
// its step.
// Source: arXiv:2604.21428, Algorithm 2 and sections 3.2, 4; deaths of shards and checkpoints are ours
// (the paper assumes that shards do not die).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "sim/methods/fragment_holders.h"
#include "sim/methods/grace.h"
#include "sim/methods/replica.h"
#include "sim/methods/shared_rate.h"
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
  // The host of the shard died, with what it held.
  void host_lost(std::size_t shard);
  // The learner's shard is up and talks to both the learner and the others.
  bool serves(const Replica& replica) const;
  // A shard that holds all of the newest versions and reaches the learner: the nearest; or none.
  std::optional<std::uint16_t> whole_source(const Replica& replica) const;
  void network_changed();
  // A learner lost its state, or was left with too few slices.
  void learner_failed(const Replica& replica);
  // Notified when a shard receives a fragment, returns or dies, when the network changes, and when a
  // learner's state is lost.
  engine::Signal& shards_changed() { return shards_changed_; }
  const FragmentHolders& holders() const { return holders_; }

 private:
  struct Shard {
    std::uint16_t region = 0;
    bool up = true;
    std::uint32_t deaths = 0;
    std::size_t source = SIZE_MAX;             // the shard that it copies from
    std::vector<bool> follows;                 // (P) fetches it, and has had part in all merges since
    engine::ProcessId restoring = {};
  };
  struct Take {
    std::uint16_t learner, incarnation;
    std::uint32_t shard_deaths;  // of the shard that holds it, when it was taken
    double weight;
  };
  struct Sync {
    std::uint32_t id, step;
    std::uint16_t fragment, epoch;
    Nanoseconds first_report, decided;
    std::vector<Take> takes;
    std::int64_t bytes;
    // Shards that have part in the all-reduce: (shard, deaths when it began).
    std::vector<std::pair<std::size_t, std::uint32_t>> members = {};
  };

  static std::vector<Shard> make_shards(const World& world);
  engine::Process collect();
  engine::Process sync(std::uint16_t fragment, std::uint32_t step, Nanoseconds first_report,
                       std::vector<std::uint16_t> members);
  engine::Process push(std::uint16_t learner, Broadcast broadcast);
  engine::Process restore(std::size_t shard);
  engine::Task<bool> pull(Sync& sync);
  engine::Task<bool> reduce_among_shards(Sync& sync);
  engine::Task<bool> gather_centrally(Sync& sync);
  engine::Task<tape::TransferStatus> all_reduce(const Sync& sync);
  engine::Task<> notice_trouble(tape::TransferStatus status);
  engine::Task<> save_checkpoint();
  Nanoseconds grace_now() const;
  Nanoseconds step_estimate() const;
  std::vector<std::uint16_t> due_at(std::uint32_t step);
  void begin_due(std::uint32_t step, Nanoseconds first_report);
  void take(Sync& sync, const std::vector<std::uint16_t>& members);
  void drop_lost_takes(Sync& sync);
  void lose_take(const Sync& sync, const Take& take, tape::LossReason reason);
  void publish(Sync& sync);
  void send_to_learners(std::size_t shard, std::uint16_t fragment);
  void give_up(Sync& sync, tape::LossReason reason);
  void settle(std::uint16_t fragment, std::uint32_t step);
  void end_sync(const Sync& sync);
  // The version does not reach the replica.
  void miss(Replica& replica, const Broadcast& broadcast);
  void deliver(Replica& replica, const Broadcast& broadcast);

  // Shards (syncer_shards.cpp).
  bool talks(const Shard& shard) const;
  void find_members(Sync& sync) const;
  void drop_dead_members(Sync& sync) const;
  bool serves(const Replica& replica, std::size_t fragment) const;
  void forget_lead() { lead_.reset(); }
  std::uint16_t lead_region() const;
  std::uint16_t find_lead_region() const;

  // Recovery (syncer_recovery.cpp).
  void restart_fetches_from(std::size_t source);
  void start_restoring(std::size_t shard);
  std::vector<std::uint16_t> next_to_fetch(std::size_t shard, std::size_t& source) const;
  void unfollow(std::size_t shard);
  std::optional<std::size_t> nearest_holder(std::size_t shard, std::size_t fragment) const;
  bool sibling_goes_first(std::size_t shard, std::size_t source) const;
  bool fragment_lost(std::size_t fragment) const;
  bool any_fragment_lost() const;
  engine::Task<> fetch_next(std::size_t shard);
  engine::Task<> revive(std::size_t shard);
  engine::Task<> rebuild_from_learner(std::size_t shard);
  engine::Task<> load_checkpoint(std::size_t shard);
  bool go_back_to_kept(std::size_t shard);
  void begin_new_epoch(std::size_t shard, std::uint16_t learner);
  void void_versions(std::size_t fragment);
  bool nobody_has_state() const;
  const Replica* furthest_ahead(const Shard& shard) const;

  bool pinned() const { return world_.training.adoption == Adoption::kPinned; }
  bool has_reported(const Replica& replica) const;
  bool central() const { return world_.training.syncer.placement == SyncerPlacement::kCentral; }
  std::size_t shard_of(std::uint16_t learner) const { return central() ? 0 : learner; }
  std::size_t reporter_count() const;
  std::size_t expected_count() const;
  void consume_reports();
  bool anybody_is_a_step_further() const;
  std::vector<std::uint16_t> heard_learners() const;
  Nanoseconds first_report_date() const;
  engine::Turn decision() const { return {engine::Priority::kDecision, 0}; }
  bool fragment_in_flight(std::uint16_t fragment) const;

  World& world_;
  Replicas& replicas_;
  SnapshotRound snapshots_;
  std::vector<Shard> shards_;
  FragmentHolders holders_;
  // What lead_region() last found; asked for with every report.
  struct Lead {
    std::uint16_t region;
    std::uint32_t reachable_number;  // of the transport, then
  };
  mutable std::optional<Lead> lead_;
  engine::Signal reported_, shards_changed_;
  std::vector<Tracked> step_estimates_;         // (M)
  Tracked quorum_estimate_, sync_estimate_;
  std::vector<Broadcast> newest_;               // of each fragment; sync UINT32_MAX: none in its epoch
  std::vector<std::uint32_t> last_begun_;       // step at which each fragment's last sync began, (P)
  std::vector<std::uint32_t> in_flight_;        // fragments being merged
  std::vector<std::uint16_t> late_;             // due, and no room: they wait for their turn
  Nanoseconds noticed_at_ = 0;                  // by then every death so far has been noticed
  std::unique_ptr<SharedRate> nic_in_, nic_out_;  // central only
  std::uint32_t step_ = 0, next_sync_ = 0;
  Nanoseconds next_checkpoint_ = base::kNever;
  std::uint32_t saved_step_ = 0;
  std::size_t reviving_ = SIZE_MAX;             // the shard that brings lost fragments back
};

}  // namespace sim::methods

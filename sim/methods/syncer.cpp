// sim/methods/syncer.cpp: the syncer's loop: reports, quorum, grace, takes, broadcasts.
#include "sim/methods/syncer.h"

#include <algorithm>
#include <utility>

#include "sim/methods/fragment_traffic.h"

namespace sim::methods {

using tape::LossReason;
using tape::TransferStatus;

std::vector<Syncer::Shard> Syncer::make_shards(const World& world) {
  std::vector<std::uint16_t> places;
  if (world.training.syncer.placement == SyncerPlacement::kCentral) {
    const auto& regions = world.shape().regions;
    const auto found = std::ranges::find(regions, world.training.syncer.region);
    places.push_back(static_cast<std::uint16_t>(found - regions.begin()));
  } else {
    for (const auto& learner : world.shape().learners) places.push_back(learner.region);
  }
  std::vector<Shard> shards(places.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    shards[i].region = places[i];
    shards[i].follows.assign(static_cast<std::size_t>(world.training.fragments), false);
  }
  return shards;
}

Syncer::Syncer(World& world, Replicas& replicas)
    : world_(world),
      replicas_(replicas),
      snapshots_(world, replicas),
      shards_(make_shards(world)),
      holders_(world, shards_.size(), static_cast<std::size_t>(world.training.fragments)),
      reported_(world.conductor),
      shards_changed_(world.conductor),
      step_estimates_(replicas.size(), Tracked(world.training.tracking)),
      quorum_estimate_(world.training.tracking),
      sync_estimate_(world.training.tracking),
      newest_(holders_.fragment_count(), Broadcast{.sync = UINT32_MAX}),
      last_begun_(holders_.fragment_count(), 0) {
  if (central() && world_.network.model != engine::NetworkModel::kNone) {
    const double rate = world_.training.syncer.nic_bytes_per_s;
    nic_in_ = std::make_unique<SharedRate>(world_.conductor, rate);
    nic_out_ = std::make_unique<SharedRate>(world_.conductor, rate);
  }
  const Nanoseconds every = world_.training.checkpoint.every;
  if (every > 0) next_checkpoint_ = every;
}

void Syncer::start() {
  world_.conductor.spawn(collect(), decision());
}

// Learners that wait report no more: what a cut link may have swallowed is said again.
void Syncer::network_changed() {
  shards_changed_.notify();
  for (const auto& replica : replicas_) {
    if (replica->job.activity() != tape::Activity::kWaitingForMerge) continue;
    world_.conductor.spawn(report(*replica, 0),
                           {engine::Priority::kArrival, replica->job.learner()});
  }
}

// Algorithm 2. A report counts for the global step that is open when it arrives, whichever step of
// the learner it tells of; so without grace a fleet out of phase opens a step at every report. Grace
// is held at every step, also where no fragment is due, or steps would be opened faster than made.
engine::Process Syncer::collect() {
  for (;;) {
    ++step_;
    snapshots_.at_step(step_);
    while (reporter_count() < static_cast<std::size_t>(world_.training.quorum)) {
      co_await reported_.wait(decision());
    }
    const Nanoseconds first = first_report_date();
    quorum_estimate_.add(world_.conductor.now() - first);
    const Nanoseconds grace = grace_now();
    const Nanoseconds until = world_.conductor.now() + grace;
    while (grace > 0 && reporter_count() < expected_count() && !anybody_is_a_step_further()) {
      const bool reported = co_await reported_.wait_until(until, decision());
      if (!reported) break;
    }
    if (world_.conductor.now() >= next_checkpoint_ && !any_fragment_lost()) {
      co_await save_checkpoint();
    }
    consume_reports();
    begin_due(step_, first);
  }
}

Nanoseconds Syncer::grace_now() const {
  const GraceEstimates estimates = {step_estimate(), quorum_estimate_.estimate(),
                                    sync_estimate_.estimate()};
  const Nanoseconds grace = decide_grace(world_.training, estimates);
  world_.say(tape::GraceDecided{estimates.step, estimates.quorum, estimates.sync, grace, step_});
  return grace;
}

// The lower median over learners that can contribute: one that is ten times slower, or faster, than the
// others does not set their pace.
Nanoseconds Syncer::step_estimate() const {
  std::vector<Nanoseconds> known;
  for (const auto& replica : replicas_) {
    const Tracked& tracked = step_estimates_[replica->job.learner()];
    if (tracked.known() && replica->can_contribute()) known.push_back(tracked.estimate());
  }
  if (known.empty()) return 0;
  const auto middle = known.begin() + static_cast<std::ptrdiff_t>((known.size() - 1) / 2);
  std::ranges::nth_element(known, middle);
  return *middle;
}

// Fragments and outer state go to the store; learners go on, merges wait for the blocking part.
engine::Task<> Syncer::save_checkpoint() {
  co_await world_.conductor.sleep_for(world_.training.checkpoint.save, decision());
  next_checkpoint_ = world_.conductor.now() + world_.training.checkpoint.every;
  if (any_fragment_lost()) co_return;
  saved_step_ = step_;
  world_.say(tape::CheckpointSaved{step_, tape::kNoLearner});
}

engine::Process Syncer::report(Replica& replica, Nanoseconds step_duration) {
  const std::uint16_t incarnation = replica.job.incarnation();
  const std::uint32_t step = replica.job.step();
  const std::uint32_t marker = snapshots_.marker_of(replica);
  const TransferStatus status = co_await world_.transport.send(
      {replica.job.region(), lead_region(), world_.training.metadata_bytes},
      tape::TrafficClass::kControl, {engine::Priority::kArrival, replica.job.learner()});
  if (status != TransferStatus::kOk || replica.job.incarnation() != incarnation) co_return;
  snapshots_.marker_returned(replica, marker);
  if (step_duration > 0) step_estimates_[replica.job.learner()].add(step_duration);
  replica.reported_again = replica.reported;
  if (!replica.reported) replica.reported_at = world_.conductor.now();
  replica.reported = true;
  replica.heard = true;
  replica.reported_step = std::max(replica.reported_step, step);
  reported_.notify();
}

// The fragments of this step's turns, in the order in which they are to begin. Who waits longest goes
// first, so that where there is never room for all every fragment merges in its turn, only more rarely.
// late = skip: one that was skipped waits for its own next turn, and takes another's if it missed that too.
std::vector<std::uint16_t> Syncer::due_at(std::uint32_t step) {
  const bool makes_up = world_.training.late == LatePolicy::kMerge;
  const std::int64_t two_turns = 2 * world_.training.sync_every;
  std::vector<std::uint16_t> queue = fragments_due(world_.training, step);
  for (const std::uint16_t p : late_) {
    const bool takes_another = makes_up || std::int64_t{step} - last_begun_[p] >= two_turns;
    if (takes_another && std::ranges::find(queue, p) == queue.end()) queue.push_back(p);
  }
  std::ranges::stable_sort(queue, {}, [this](std::uint16_t p) { return last_begun_[p]; });
  return queue;
}

// A turn is one fragment's: late = skip begins at most as many as fall due, late = merge makes up for
// what found no room.
void Syncer::begin_due(std::uint32_t step, Nanoseconds first_report) {
  // Learners that wait for what is in flight (pinned) bound it themselves.
  const std::size_t limit =
      pinned() ? SIZE_MAX
               : static_cast<std::size_t>(std::max<std::int64_t>(1, world_.training.overlap_steps));
  const std::vector<std::uint16_t> now_due = fragments_due(world_.training, step);
  const std::vector<std::uint16_t> queue = due_at(step);
  std::size_t turns =
      world_.training.late == LatePolicy::kMerge ? queue.size() : now_due.size();
  const std::vector<std::uint16_t> members = heard_learners();
  bool began = false;
  for (const std::uint16_t p : queue) {
    std::erase(late_, p);
    if (turns > 0 && in_flight_.size() < limit && !fragment_in_flight(p)) {
      --turns;
      began = true;
      last_begun_[p] = step;
      in_flight_.push_back(p);
      world_.conductor.spawn(sync(p, step, first_report, members), decision());
      continue;
    }
    late_.push_back(p);
    const bool skipped = world_.training.late != LatePolicy::kMerge &&
                         std::ranges::find(now_due, p) != now_due.end();
    if (!skipped) continue;
    world_.say(tape::FragmentSkipped{step, p, LossReason::kInFlightLimit});
    settle(p, step);
  }
  if (!began) return;
  for (const std::uint16_t m : members) replicas_[m]->heard = false;
}

// One outer update of one fragment, from the takes to the broadcast.
engine::Process Syncer::sync(std::uint16_t fragment, std::uint32_t step, Nanoseconds first_report,
                             std::vector<std::uint16_t> members) {
  Sync sync{next_sync_++,
            step,
            fragment,
            holders_.epoch(fragment),
            first_report,
            world_.conductor.now(),
            {},
            fragment_wire_bytes(world_, fragment)};
  take(sync, members);
  const auto quorum = static_cast<std::size_t>(world_.training.quorum);
  const bool enough = sync.takes.size() >= quorum;
  bool merged = enough;
  if (merged && central()) {
    merged = co_await gather_centrally(sync);
  } else if (merged) {
    merged = co_await reduce_among_shards(sync);
  }
  if (enough) drop_lost_takes(sync);
  drop_dead_members(sync);
  merged = merged && !sync.members.empty() && sync.epoch == holders_.epoch(fragment);
  if (!merged || sync.takes.size() < quorum) {
    give_up(sync, enough && !merged ? LossReason::kMergeFailed : LossReason::kNoQuorum);
  } else {
    publish(sync);
  }
  end_sync(sync);
}

void Syncer::take(Sync& sync, const std::vector<std::uint16_t>& members) {
  const std::size_t p = sync.fragment;
  for (const std::uint16_t m : members) {
    Replica& replica = *replicas_[m];
    if (!replica.can_contribute() || !serves(replica, p) || replica.counted_steps(p) == 0) continue;
    const auto steps = static_cast<std::uint32_t>(replica.counted_steps(p));
    const std::uint64_t tokens = replica.counted_tokens(p);
    if (tokens == 0) continue;
    auto& counter = replica.counters[p];
    counter.taken_sync = sync.id;
    counter.taken_step = replica.job.step();
    world_.say(tape::FragmentTaken{tokens, steps, sync.id, replica.job.step(), counter.held_version,
                                   m, replica.job.incarnation(), sync.fragment});
    const double weight =
        world_.training.token_weights
            ? optim::token_weight(static_cast<double>(tokens), static_cast<double>(steps))
            : 1.0;
    sync.takes.push_back({m, replica.job.incarnation(), shards_[shard_of(m)].deaths, weight});
  }
  // Due, and nobody there to take it from.
  if (sync.takes.empty()) {
    world_.say(tape::FragmentSkipped{sync.step, sync.fragment, LossReason::kNoQuorum});
  }
}

// A take is lost when its learner's life has ended (a new one opened), or its shard died with it.
void Syncer::drop_lost_takes(Sync& sync) {
  std::erase_if(sync.takes, [&](const Take& take) {
    const Replica& replica = *replicas_[take.learner];
    LossReason reason;
    if (replica.job.incarnation() != take.incarnation || !replica.has_state) {
      reason = LossReason::kLearnerDied;
    } else if (!shards_[shard_of(take.learner)].up ||
               shards_[shard_of(take.learner)].deaths != take.shard_deaths) {
      reason = LossReason::kSyncerDied;
    } else if (!serves(replica)) {
      reason = LossReason::kUnreachable;
    } else {
      return false;
    }
    lose_take(sync, take, reason);
    return true;
  });
}

// Its learner will have no part in this sync's version.
void Syncer::lose_take(const Sync& sync, const Take& take, LossReason reason) {
  auto& counter = replicas_[take.learner]->counters[sync.fragment];
  if (counter.taken_sync == sync.id) counter.taken_sync = UINT32_MAX;
  world_.say(tape::FragmentLost{sync.id, take.learner, sync.fragment, reason});
}

void Syncer::give_up(Sync& sync, LossReason reason) {
  for (const Take& take : sync.takes) lose_take(sync, take, reason);
  settle(sync.fragment, sync.step);
}

void Syncer::publish(Sync& sync) {
  std::vector<tape::Contributor> contributors;
  for (const Take& take : sync.takes) {
    contributors.push_back({take.weight, take.learner, take.incarnation});
  }
  sync_estimate_.add(world_.conductor.now() - sync.decided);
  std::vector<bool> member(shards_.size(), false);
  for (const auto& [shard, deaths] : sync.members) member[shard] = true;
  holders_.merge(sync.fragment, [&member](std::size_t shard) { return member[shard]; });
  const std::uint32_t version = holders_.version(sync.fragment);
  world_.say(tape::FragmentMerged{
      contributors.data(),
      grace_overrun(world_.training, step_estimate(), world_.conductor.now() - sync.first_report),
      static_cast<std::uint32_t>(contributors.size()), sync.id, version, sync.step, sync.fragment,
      sync.epoch});
  newest_[sync.fragment] = {sync.id,       version,    sync.step,
                            sync.fragment, sync.epoch, snapshots_.newest()};
  for (const auto& replica : replicas_) {
    const std::uint16_t m = replica->job.learner();
    if (replica->listening && serves(*replica, sync.fragment)) {
      world_.conductor.spawn(push(m, newest_[sync.fragment]), {engine::Priority::kArrival, m});
    } else {
      miss(*replica, newest_[sync.fragment]);
    }
  }
  for (std::size_t shard = 0; shard < shards_.size(); ++shard) {
    if (!member[shard]) shards_[shard].follows[sync.fragment] = false;
    if (shards_[shard].up) start_restoring(shard);
  }
}

// A version that a shard has fetched goes on to its learners as a broadcast would have.
void Syncer::send_to_learners(std::size_t shard, std::uint16_t fragment) {
  if (newest_[fragment].sync == UINT32_MAX) return;
  for (const auto& replica : replicas_) {
    const std::uint16_t m = replica->job.learner();
    if (shard_of(m) != shard || !replica->listening || !serves(*replica)) continue;
    world_.say(tape::BroadcastChanged{newest_[fragment].sync, m, fragment, 1});
    world_.conductor.spawn(push(m, newest_[fragment]), {engine::Priority::kArrival, m});
  }
}

// From the shard to its learner, in the parameters' own format. On its way the learner may lose what it
// listens with, or the fragment may go back: versions of an epoch that has ended are not adopted.
engine::Process Syncer::push(std::uint16_t learner, Broadcast broadcast) {
  Replica& replica = *replicas_[learner];
  const std::uint32_t listening = replica.listening_number;
  const std::int64_t bytes = fragment_value_bytes(world_, broadcast.fragment);
  const engine::Turn turn{engine::Priority::kArrival, learner};
  std::optional<SharedRate::Passage> passage;
  if (nic_out_) passage = nic_out_->begin(static_cast<double>(bytes));
  const TransferStatus status = co_await world_.transport.send(
      {shards_[shard_of(learner)].region, replica.job.region(), bytes},
      tape::TrafficClass::kFragment, turn);
  if (passage && status == TransferStatus::kOk) {
    co_await nic_out_->through(*passage, turn);
  } else if (passage) {
    nic_out_->drop(*passage);
  }
  const bool heard = replica.listening && replica.listening_number == listening;
  if (status == TransferStatus::kOk && heard &&
      broadcast.epoch == holders_.epoch(broadcast.fragment)) {
    deliver(replica, broadcast);
  } else {
    miss(replica, broadcast);
  }
}

void Syncer::miss(Replica& replica, const Broadcast& broadcast) {
  world_.say(tape::BroadcastChanged{broadcast.sync, replica.job.learner(), broadcast.fragment, 0});
  replica.settle(broadcast.fragment, broadcast.step);
}

void Syncer::deliver(Replica& replica, const Broadcast& broadcast) {
  snapshots_.marker_reached(replica, broadcast.snapshot);
  replica.inbox.push_back(broadcast);
  replica.settle(broadcast.fragment, broadcast.step);
}

void Syncer::settle(std::uint16_t fragment, std::uint32_t step) {
  for (const auto& replica : replicas_) replica->settle(fragment, step);
}

void Syncer::end_sync(const Sync& sync) {
  std::erase(in_flight_, sync.fragment);
  shards_changed_.notify();  // a shard may wait to fetch what was in flight
}

bool Syncer::fragment_in_flight(std::uint16_t fragment) const {
  return std::ranges::find(in_flight_, fragment) != in_flight_.end();
}

std::size_t Syncer::reporter_count() const {
  if (central() && !shards_[0].up) return 0;
  std::size_t count = 0;
  for (const auto& replica : replicas_) {
    count += has_reported(*replica) && replica->can_contribute();
  }
  return count;
}

// Pinned, the method is synchronous: who has finished the step, however long ago, has reported it.
// Else a learner that came back a step ahead and those that waited for it would wait for each other.
bool Syncer::has_reported(const Replica& replica) const {
  return replica.reported || (pinned() && replica.reported_step >= step_);
}

// Whom it is worth waiting for: learners that step, and whose reports can arrive; and those that died so
// lately that nobody has noticed.
std::size_t Syncer::expected_count() const {
  const std::uint16_t lead = lead_region();
  std::size_t count = 0;
  for (const auto& replica : replicas_) {
    const bool steps = replica->job.activity() == tape::Activity::kStepping;
    const bool missed = replica->out && world_.conductor.now() - replica->out_since <
                                            world_.training.elasticity.detection;
    count += missed ||
             (replica->can_contribute() &&
              (has_reported(*replica) ||
               (steps && world_.transport.reachable(replica->job.region(), lead))));
  }
  return count;
}

Nanoseconds Syncer::first_report_date() const {
  Nanoseconds first = world_.conductor.now();
  for (const auto& replica : replicas_) {
    if (has_reported(*replica)) first = std::min(first, replica->reported_at);
  }
  return first;
}

// They have opened this step. For what is merged a report counts until something is: where fewer
// fragments than steps are due, all who reported since the last merge have part in the next.
void Syncer::consume_reports() {
  for (const auto& replica : replicas_) {
    if (replica->reported_again) replica->reported_at = world_.conductor.now();
    replica->reported = std::exchange(replica->reported_again, false);
  }
}

// Grace lasts a step at most, whatever a step is estimated to take.
bool Syncer::anybody_is_a_step_further() const {
  return std::ranges::any_of(replicas_, [](const auto& r) { return r->reported_again; });
}

std::vector<std::uint16_t> Syncer::heard_learners() const {
  std::vector<std::uint16_t> members;
  for (const auto& replica : replicas_) {
    if (replica->heard || has_reported(*replica)) members.push_back(replica->job.learner());
  }
  return members;
}

}  // namespace sim::methods

// sim/methods/decoupled_recovery.cpp: how a learner that lost its state copies a peer.
//
// Source: arXiv:2604.21428, Appendix E.3: connect to the syncer, ask a healthy peer, buffer all
// broadcasts meanwhile and replay them when the transfer ends. Ours: donors are taken nearest first,
// then by name; a region fetches once over the wide links and fans out inside; a donor's death
// starts again with the next; with no donor left the syncer's parameters serve, with fresh moments.
#include <algorithm>

#include "sim/methods/decoupled_diloco.h"
#include "sim/methods/donors.h"
#include "sim/methods/fragment_traffic.h"

namespace sim::methods {

using tape::Activity;
using tape::LossReason;
using tape::TransferStatus;

// Where the arm's rule is to go to the store, nobody gives what he holds in memory.
Replica* DecoupledDiloco::find_donor(const Replica& replica) {
  if (world_.training.elasticity.recovery == Recovery::kCheckpoint) return nullptr;
  return nearest_donor(world_, replicas_, replica, [](const Replica& other) {
    return other.can_contribute() && !other.copying;
  });
}

engine::Task<> DecoupledDiloco::recover(Replica& replica) {
  if (world_.training.elasticity.recovery == Recovery::kCheckpoint) {
    replica.job.begin(Activity::kLoadingCheckpoint);
    co_await world_.conductor.sleep_for(world_.training.checkpoint.load, replica.job.turn());
  }
  for (;;) {
    replica.job.begin(Activity::kCopyingState);
    Replica* donor = find_donor(replica);
    const std::optional<std::uint16_t> source =
        donor ? std::optional(donor->job.region()) : syncer_.whole_source(replica);
    if (!source || !syncer_.serves(replica)) {
      co_await syncer_.shards_changed().wait(replica.job.turn());
      continue;
    }
    if (sibling_is_fetching(replicas_, replica)) {
      co_await recovery_changed_.wait(replica.job.turn());
      continue;
    }
    const bool copied = co_await copy_from(replica, donor, *source);
    if (copied) co_return;
  }
}

// What the donor has received and not yet adopted is no part of its parameters: it is copied too.
engine::Task<bool> DecoupledDiloco::copy_from(Replica& replica, Replica* donor,
                                              std::uint16_t source_region) {
  double bytes = donor ? static_cast<double>(world_.model.parameters) * world_.model.state_bytes
                       : static_cast<double>(value_bytes(world_, world_.model.parameters));
  replica.copying = true;
  replica.listening = true;  // broadcasts are buffered from here on
  ++replica.listening_number;
  replica.transfer = next_transfer_++;
  replica.donor = donor ? donor->job.learner() : tape::kNoLearner;
  world_.say(tape::StateSent{replica.transfer, replica.donor, replica.job.learner()});
  replica.inbox = donor ? donor->inbox : std::vector<Broadcast>{};
  for (const Broadcast& broadcast : replica.inbox) {
    bytes += static_cast<double>(fragment_value_bytes(world_, broadcast.fragment));
  }
  const FragmentHolders& global = syncer_.holders();
  std::vector<std::pair<std::uint16_t, std::uint32_t>> held;  // (epoch, version) of each fragment
  for (std::size_t p = 0; p < global.fragment_count(); ++p) {
    held.push_back({global.epoch(p), donor ? donor->counters[p].held_version : global.version(p)});
  }

  const TransferStatus status = co_await world_.transport.send(
      {source_region, replica.job.region(), static_cast<std::int64_t>(bytes)},
      tape::TrafficClass::kRecovery, replica.job.turn());
  if (status != TransferStatus::kOk) {
    abandon_copy(replica, LossReason::kUnreachable);
    co_return false;
  }
  replica.copying = false;
  const std::uint32_t step = std::max(replica.job.step(), newest_step(replicas_));
  const std::uint16_t incarnation = replica.job.new_life();
  world_.say(tape::StateCopied{replica.transfer, step, replica.donor, replica.job.learner(),
                               incarnation});
  for (std::size_t p = 0; p < held.size(); ++p) {
    // An epoch that ended meanwhile counts its versions for itself.
    const auto& [epoch, version] = held[p];
    replica.counters[p].held_version = epoch == global.epoch(p) ? version : 0;
    replica.counters[p].taken_sync = UINT32_MAX;
    replica.reset_counters(p);
  }
  replica.job.jump_to_step(step);
  replica.job.receive_schedule_step(step);
  replica.has_state = true;
  recovery_changed_.notify();
  syncer_.shards_changed().notify();
  co_return true;
}

}  // namespace sim::methods

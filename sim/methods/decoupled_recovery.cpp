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

engine::Task<> DecoupledDiloco::recover(Replica& replica) {
  for (;;) {
    replica.job.begin(Activity::kCopyingState);
    if (!syncer_.serves(replica)) {
      co_await syncer_.shards_changed().wait(replica.job.turn());
      continue;
    }
    if (sibling_is_fetching(replicas_, replica)) {
      co_await recovery_changed_.wait(replica.job.turn());
      continue;
    }
    Replica* donor = nearest_donor(world_, replicas_, replica, [](const Replica& other) {
      return other.can_contribute() && !other.copying;
    });
    const bool copied = co_await copy_from(replica, donor);
    if (copied) co_return;
  }
}

engine::Task<bool> DecoupledDiloco::copy_from(Replica& replica, Replica* donor) {
  const std::uint16_t source_region =
      donor ? donor->job.region() : syncer_.serving_region(replica);
  const std::int64_t bytes =
      donor ? static_cast<std::int64_t>(static_cast<double>(world_.model.parameters) *
                                        world_.model.state_bytes)
            : wire_bytes(world_.model.parameters, world_.training.wire);

  replica.copying = true;
  replica.listening = true;  // broadcasts are buffered from here on
  ++replica.listening_number;
  replica.transfer = next_transfer_++;
  replica.donor = donor ? donor->job.learner() : tape::kNoLearner;
  world_.say(tape::StateSent{replica.transfer, replica.donor, replica.job.learner()});
  replica.inbox = donor ? donor->inbox : std::vector<Broadcast>{};
  const std::uint16_t epoch = syncer_.epoch();
  std::vector<std::uint32_t> held;
  if (donor) {
    for (const auto& counter : donor->counters) held.push_back(counter.held_version);
  } else {
    held = syncer_.versions();
  }

  const TransferStatus status =
      co_await world_.transport.send({source_region, replica.job.region(), bytes},
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
    replica.counters[p].held_version = epoch == syncer_.epoch() ? held[p] : 0;
    replica.counters[p].taken_sync = UINT32_MAX;
    replica.reset_counters(p);
  }
  replica.job.jump_to_step(step);
  replica.job.receive_schedule_step(step);
  replica.has_state = true;
  recovery_changed_.notify();
  co_return true;
}

}  // namespace sim::methods

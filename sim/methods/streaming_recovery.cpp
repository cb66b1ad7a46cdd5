// sim/methods/streaming_recovery.cpp: how a learner without state gets one.
#include <algorithm>

#include "sim/methods/streaming_diloco.h"

namespace sim::methods {

using tape::Activity;
using tape::LossReason;
using tape::TransferStatus;

engine::Task<> StreamingDiloco::recover(Replica& replica) {
  for (;;) {
    replica.job.begin(Activity::kCopyingState);
    Replica* donor = choose_donor(replica);
    if (!donor && !nobody_has_state()) {
      co_await recovery_changed_.wait(replica.job.turn());
      continue;
    }
    const bool copied = co_await copy_from(replica, donor);
    if (copied) co_return;
  }
}

bool StreamingDiloco::nobody_has_state() const {
  return std::ranges::none_of(replicas_, [](const auto& replica) { return replica->has_state; });
}

// Nearest first, then by name. Also one whose slices are gone: its hosts hold the state.
Replica* StreamingDiloco::choose_donor(const Replica& replica) {
  Replica* best = nullptr;
  const auto distance = [&](const Replica& donor) {
    return donor.job.region() == replica.job.region()
               ? Nanoseconds{-1}
               : world_.transport.one_way(donor.job.region(), replica.job.region());
  };
  for (const auto& donor : replicas_) {
    if (donor.get() == &replica || !donor->has_state ||
        !world_.transport.reachable(donor->job.region(), replica.job.region())) {
      continue;
    }
    const bool nearer = !best || distance(*donor) < distance(*best) ||
                        (distance(*donor) == distance(*best) &&
                         donor->job.shape().name < best->job.shape().name);
    if (nearer) best = donor.get();
  }
  return best;
}

engine::Task<bool> StreamingDiloco::copy_from(Replica& replica, Replica* donor) {
  const double per_parameter = world_.model.state_bytes + world_.model.syncer_state_bytes;
  const auto bytes = static_cast<std::int64_t>(static_cast<double>(world_.model.parameters) *
                                               per_parameter);
  replica.copying = true;
  replica.listening = true;  // what is merged from here on is kept for later
  replica.transfer = next_transfer_++;
  replica.donor = donor ? donor->job.learner() : tape::kNoLearner;
  world_.say(tape::StateSent{replica.transfer, replica.donor, replica.job.learner()});
  replica.inbox = donor ? donor->inbox : std::vector<Broadcast>{};
  std::vector<std::uint32_t> held = syncs_.versions();
  if (donor) {
    for (std::size_t p = 0; p < held.size(); ++p) held[p] = donor->counters[p].held_version;
  }
  const std::uint16_t source = donor ? donor->job.region() : replica.job.region();
  const TransferStatus status = co_await world_.transport.send(
      {source, replica.job.region(), bytes}, tape::TrafficClass::kRecovery, replica.job.turn());
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
    auto& counter = replica.counters[p];
    counter.held_version = held[p];
    counter.taken_sync = UINT32_MAX;
    counter.anchored = donor == nullptr;
    replica.reset_counters(p);
  }
  replica.job.jump_to_step(step);
  replica.arrived_step = step;
  replica.job.receive_schedule_step(step);
  replica.has_state = true;
  recovery_changed_.notify();
  co_return true;
}

void StreamingDiloco::abandon_copy(Replica& replica, LossReason reason) {
  world_.say(tape::StateLost{replica.transfer, replica.donor, replica.job.learner(), reason});
  replica.copying = false;
  replica.listening = false;
  replica.inbox.clear();
  recovery_changed_.notify();
}

}  // namespace sim::methods

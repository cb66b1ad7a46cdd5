// sim/methods/streaming_recovery.cpp: how a learner without state gets one.
#include <algorithm>

#include "sim/methods/donors.h"
#include "sim/methods/streaming_diloco.h"

namespace sim::methods {

using tape::Activity;
using tape::LossReason;
using tape::TransferStatus;

engine::Task<> StreamingDiloco::recover(Replica& replica) {
  while (!replica.has_state) {
    if (nobody_has_state()) {
      co_await start_again(replica);
      continue;
    }
    replica.job.begin(Activity::kCopyingState);
    // Also one whose slices are gone: its hosts hold the state.
    Replica* donor = nearest_donor(world_, replicas_, replica,
                                   [](const Replica& other) { return other.has_state; });
    if (!donor || sibling_is_fetching(replicas_, replica)) {
      co_await recovery_changed_.wait(replica.job.turn());
      continue;
    }
    co_await copy_from(replica, *donor);
  }
}

// Another may have been quicker: then there is a peer to copy.
engine::Task<> StreamingDiloco::start_again(Replica& replica) {
  replica.job.begin(Activity::kLoadingCheckpoint);
  co_await world_.conductor.sleep_for(world_.training.checkpoint.load, replica.job.turn());
  if (!nobody_has_state()) co_return;
  const bool redo = world_.training.checkpoint.redo;
  const std::uint32_t step = redo ? syncs_.restore_checkpoint() : newest_step(replicas_);
  replica.transfer = next_transfer_++;
  replica.donor = tape::kNoLearner;
  world_.say(tape::StateSent{replica.transfer, replica.donor, replica.job.learner()});
  begin_new_life(replica, step, syncs_.versions());
  for (auto& counter : replica.counters) counter.anchored = true;
}

bool StreamingDiloco::nobody_has_state() const {
  return std::ranges::none_of(replicas_, [](const auto& replica) { return replica->has_state; });
}

std::uint32_t StreamingDiloco::newest_live_step() {
  std::uint32_t newest = 0;
  for (const auto& replica : replicas_) {
    replica->job.tell_stretch();
    if (replica->has_state) newest = std::max(newest, replica->job.step());
  }
  return newest;
}

engine::Task<> StreamingDiloco::copy_from(Replica& replica, Replica& donor) {
  const double per_parameter = world_.model.state_bytes + world_.model.syncer_state_bytes;
  const auto bytes = static_cast<std::int64_t>(static_cast<double>(world_.model.parameters) *
                                               per_parameter);
  donor.job.tell_stretch();  // what is read is its state after the last step that has ended
  replica.copying = true;
  replica.listening = true;  // what is merged from here on is kept for later
  replica.transfer = next_transfer_++;
  replica.donor = donor.job.learner();
  replica.inbox = donor.inbox;
  world_.say(tape::StateSent{replica.transfer, replica.donor, replica.job.learner()});
  std::vector<std::uint32_t> held;
  for (const auto& counter : donor.counters) held.push_back(counter.held_version);
  const TransferStatus status = co_await world_.transport.send(
      {donor.job.region(), replica.job.region(), bytes}, tape::TrafficClass::kRecovery,
      replica.job.turn());
  if (status != TransferStatus::kOk) {
    abandon_copy(replica, LossReason::kUnreachable);
    co_return;
  }
  replica.copying = false;
  begin_new_life(replica, newest_live_step(), held);
}

// What was sent has arrived, and is held with these versions of the global fragments.
void StreamingDiloco::begin_new_life(Replica& replica, std::uint32_t step,
                                     const std::vector<std::uint32_t>& held) {
  const std::uint16_t incarnation = replica.job.new_life();
  world_.say(tape::StateCopied{replica.transfer, step, replica.donor, replica.job.learner(),
                               incarnation});
  for (std::size_t p = 0; p < held.size(); ++p) {
    auto& counter = replica.counters[p];
    counter.held_version = held[p];
    counter.taken_sync = UINT32_MAX;
    counter.anchored = false;
    replica.reset_counters(p);
  }
  replica.job.jump_to_step(step);
  replica.job.receive_schedule_step(step);
  replica.arrived_step = step;
  replica.has_state = true;
  replica.listening = true;
  recovery_changed_.notify();
}

}  // namespace sim::methods

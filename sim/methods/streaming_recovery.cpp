// sim/methods/streaming_recovery.cpp: how a learner without state gets one.
#include <algorithm>

#include "sim/methods/donors.h"
#include "sim/methods/streaming_diloco.h"

namespace sim::methods {

using tape::Activity;
using tape::LossReason;
using tape::TransferStatus;

engine::Task<> StreamingDiloco::recover(Replica& replica) {
  const bool from_store = world_.training.elasticity.recovery == Recovery::kCheckpoint;
  bool loaded = false;
  while (!replica.has_state) {
    const bool begins_anew = nobody_has_state();
    if (!loaded && (begins_anew || from_store)) {
      co_await load(replica);
      loaded = true;
    } else if (begins_anew) {
      start_again(replica);
    } else {
      replica.job.begin(Activity::kCopyingState);
      const Nanoseconds hang = copies_hang_until_[replica.job.learner()];
      if (hang > world_.conductor.now()) {
        co_await world_.conductor.sleep_until(hang, replica.job.turn());
      } else if (Replica* donor = find_donor(replica)) {
        co_await copy_from(replica, *donor);
      } else {
        co_await recovery_changed_.wait(replica.job.turn());
      }
    }
  }
}

engine::Task<> StreamingDiloco::load(Replica& replica) {
  replica.job.begin(Activity::kLoadingCheckpoint);
  co_await world_.conductor.sleep_for(world_.training.checkpoint.load, replica.job.turn());
}

void StreamingDiloco::start_again(Replica& replica) {
  const bool redo = world_.training.checkpoint.redo;
  const std::uint32_t step = redo ? syncs_.restore_checkpoint() : newest_step(replicas_);
  replica.transfer = next_transfer_++;
  world_.say(tape::StateSent{replica.transfer, tape::kNoLearner, replica.job.learner()});
  begin_new_life(replica, tape::kNoLearner, step, syncs_.versions());
}

// Also one whose slices are gone, where its hosts hold the state. What a learner adds to a checkpoint is
// the newest global state: of one that has it, unless nobody does.
Replica* StreamingDiloco::find_donor(const Replica& replica) const {
  const auto brings_newest = [&](const Replica& other) {
    return other.has_state && syncs_.is_current(other);
  };
  const bool newest = world_.training.elasticity.recovery == Recovery::kCheckpoint &&
                      std::ranges::any_of(replicas_, [&](const auto& r) { return brings_newest(*r); });
  Replica* donor = nearest_donor(world_, replicas_, replica, [&](const Replica& other) {
    return newest ? brings_newest(other) : other.has_state;
  });
  const bool wide = donor && donor->job.region() != replica.job.region();
  return wide && sibling_is_fetching(replicas_, replica) ? nullptr : donor;
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
  const bool from_store = world_.training.elasticity.recovery == Recovery::kCheckpoint;
  const double per_parameter =
      world_.model.syncer_state_bytes + (from_store ? 0 : world_.model.state_bytes);
  const auto bytes = static_cast<std::int64_t>(static_cast<double>(world_.model.parameters) *
                                               per_parameter);
  const std::uint16_t source = from_store ? tape::kNoLearner : donor.job.learner();
  donor.job.tell_stretch();  // what is read is its state after the last step that has ended
  replica.copying = true;
  listen(replica);  // what is merged from here on is kept for later
  replica.transfer = next_transfer_++;
  replica.donor = donor.job.learner();
  std::vector<std::uint32_t> held = syncs_.versions();
  if (!from_store) {
    replica.inbox = donor.inbox;
    std::ranges::transform(donor.counters, held.begin(), &Replica::FragmentCounter::held_version);
  }
  world_.say(tape::StateSent{replica.transfer, source, replica.job.learner()});
  const TransferStatus status = co_await world_.transport.send(
      {donor.job.region(), replica.job.region(), bytes}, tape::TrafficClass::kRecovery,
      replica.job.turn());
  if (status != TransferStatus::kOk) {
    copies_hang_until_[replica.job.learner()] =
        world_.conductor.now() + world_.training.elasticity.timeout;
    abandon_copy(replica, LossReason::kUnreachable);
    co_return;
  }
  replica.copying = false;
  syncs_.state_brought(donor.job.region(), replica.job.region());
  begin_new_life(replica, source, newest_live_step(), held);
}

// What was sent has arrived, and is held with these versions of the global fragments. What a peer holds
// beyond them is that peer's to bring.
void StreamingDiloco::begin_new_life(Replica& replica, std::uint16_t source, std::uint32_t step,
                                     const std::vector<std::uint32_t>& held) {
  const std::uint16_t incarnation = replica.job.new_life();
  world_.say(tape::StateCopied{replica.transfer, step, source, replica.job.learner(), incarnation});
  for (std::size_t p = 0; p < held.size(); ++p) {
    auto& counter = replica.counters[p];
    counter.held_version = held[p];
    counter.taken_sync = UINT32_MAX;
    counter.anchored = source == tape::kNoLearner;
    replica.reset_counters(p);
  }
  replica.job.jump_to_step(step);
  replica.job.receive_schedule_step(step);
  replica.arrived_step = step;
  replica.has_state = true;
  listen(replica);
  recovery_changed_.notify();
}

}  // namespace sim::methods

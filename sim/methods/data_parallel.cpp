// sim/methods/data_parallel.cpp: see data_parallel.h.
#include "sim/methods/data_parallel.h"

#include <algorithm>

namespace sim::methods {

using tape::Activity;

DataParallel::DataParallel(World& world) : world_(world), job_(world, 0) {}

void DataParallel::start() {
  if (world_.training.checkpoint.every > 0) {
    next_checkpoint_ = world_.conductor.now() + world_.training.checkpoint.every;
  }
  job_.start([this] { return live(false); });
}

engine::Process DataParallel::live(bool after_loss) {
  if (after_loss) co_await recover();
  for (;;) {
    if (job_.can_grow()) co_await job_.grow();
    if (world_.conductor.now() >= next_checkpoint_) co_await save_checkpoint();
    job_.begin(Activity::kStepping);
    co_await job_.run_steps(steps_until_interruption());
  }
}

void DataParallel::slices_lost(std::span<const std::uint32_t> slices) {
  if (job_.lose_slices(mine(slices))) react();
}

void DataParallel::network_changed() {
  if (job_.network_changed()) react();
}

void DataParallel::react() {
  const ElasticityOptions& options = world_.training.elasticity;
  const bool stopped = !options.elastic || job_.joined_count() == 0;
  state_lost_ = state_lost_ || (stopped && options.recovery == Recovery::kCheckpoint);
  job_.restart([this] { return live(true); });
}

void DataParallel::hosts_lost(std::span<const std::uint32_t> slices) {
  job_.lose_hosts(mine(slices));
}

void DataParallel::slices_returned(std::span<const std::uint32_t> slices) {
  job_.return_slices(mine(slices));
}

// Faults strike the whole fleet; an arm that uses a part of it meets only those of its own.
std::vector<std::uint32_t> DataParallel::mine(std::span<const std::uint32_t> slices) const {
  std::vector<std::uint32_t> used;
  std::ranges::copy_if(slices, std::back_inserter(used), [this](std::uint32_t slice) {
    return world_.shape().slices[slice].learner == job_.learner();
  });
  return used;
}

engine::Task<> DataParallel::recover() {
  const bool elastic = world_.training.elasticity.elastic;
  if (elastic && job_.joined_count() > 0) {
    co_await job_.shrink();
  } else {
    co_await job_.wait_and_restart(!elastic);
  }
  if (!state_lost_) {
    const bool regained = co_await job_.regain_state();
    state_lost_ = !regained;
  }
  if (state_lost_) co_await load_checkpoint();
}

// What loses slices while it loads begins again: nothing steps on a state that is gone.
engine::Task<> DataParallel::load_checkpoint() {
  const CheckpointOptions& checkpoint = world_.training.checkpoint;
  if (checkpoint.redo) {
    job_.begin(Activity::kLoadingCheckpoint);
    co_await world_.conductor.sleep_for(checkpoint.load, job_.turn());
    world_.say(tape::RolledBack{saved_step_, 0, job_.new_life()});
    job_.jump_to_step(saved_step_);
    job_.receive_schedule_step(saved_schedule_step_);
  } else {
    job_.replace_state();
  }
  state_lost_ = false;
  if (checkpoint.every > 0) next_checkpoint_ = world_.conductor.now() + checkpoint.every;
}

engine::Task<> DataParallel::save_checkpoint() {
  job_.begin(Activity::kSavingCheckpoint);
  co_await world_.conductor.sleep_for(world_.training.checkpoint.save, job_.turn());
  saved_step_ = job_.step();
  saved_schedule_step_ = job_.schedule_step();
  world_.say(tape::CheckpointSaved{saved_step_, 0});
  next_checkpoint_ = world_.conductor.now() + world_.training.checkpoint.every;
}

// A save is due at the first boundary after its date.
std::uint32_t DataParallel::steps_until_interruption() const {
  std::uint32_t steps = world_.horizon.steps_until_due(job_.tokens_per_step());
  if (next_checkpoint_ < base::kNever) {
    const Nanoseconds left = next_checkpoint_ - world_.conductor.now();
    const Nanoseconds period = job_.next_period();
    const Nanoseconds until = std::max<Nanoseconds>(1, (left + period - 1) / period);
    steps = static_cast<std::uint32_t>(std::min<Nanoseconds>(steps, until));
  }
  return steps;
}

}  // namespace sim::methods

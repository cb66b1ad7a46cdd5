// sim/methods/data_parallel.cpp: see data_parallel.h.
#include "sim/methods/data_parallel.h"

#include <algorithm>

#include "sim/engine/collectives.h"

namespace sim::methods {

using tape::Activity;
using tape::TransferStatus;

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
    const bool wide = world_.network.model != engine::NetworkModel::kNone &&
                      job_.regions().size() > 1;
    if (wide) {
      co_await step_over_links();
    } else {
      co_await step_without_links();
    }
  }
}

void DataParallel::slices_lost(std::span<const std::uint32_t> slices) {
  if (!job_.lose_slices(mine(slices))) return;
  const bool elastic = world_.training.elasticity.elastic;
  state_lost_ = state_lost_ || !elastic || job_.joined_count() == 0;
  job_.restart([this] { return live(true); });
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

std::uint32_t DataParallel::steps_until_interruption(Nanoseconds period) const {
  std::uint32_t steps = world_.horizon.steps_until_due(job_.tokens_per_step());
  if (next_checkpoint_ < base::kNever) {
    const Nanoseconds left = next_checkpoint_ - world_.conductor.now();
    const Nanoseconds until = std::max<Nanoseconds>(1, (left + period - 1) / period);
    steps = static_cast<std::uint32_t>(std::min<Nanoseconds>(steps, until));
  }
  return steps;
}

engine::Task<> DataParallel::step_without_links() {
  const Nanoseconds compute = job_.next_compute_time();
  const Nanoseconds period =
      compute +
      exposed_reduction(local_reduce_time(), compute, world_.training.buckets);
  const std::uint32_t steps = job_.steps_are_alike() ? steps_until_interruption(period) : 1;
  co_await job_.run_stretch(period, compute, steps);
}

// The first buckets leave once the forward pass (a third) and their share of the backward pass are
// done; the last one leaves when the whole backward pass is, and only it is exposed on fast links.
engine::Task<> DataParallel::step_over_links() {
  const Nanoseconds start = world_.conductor.now();
  const Nanoseconds compute = job_.next_compute_time();
  const std::shared_ptr<const engine::ReducePlan> plan =
      world_.transport.plan(job_.regions(), gradient_bytes());
  if (!plan->left_out.empty()) {
    job_.begin(Activity::kWaitingForNetwork);
    co_await world_.transport.network_changed().wait(job_.turn());
    co_return;
  }
  const std::int64_t buckets = world_.training.buckets;
  const std::int64_t last_bytes = gradient_bytes() / buckets;
  const Nanoseconds local = local_reduce_time();

  const Nanoseconds first_ready = start + compute / 3 + 2 * compute / 3 / buckets;
  co_await world_.conductor.sleep_until(first_ready, job_.turn());
  TransferStatus status = co_await world_.transport.exchange(
      wide_hops(*plan, gradient_bytes() - last_bytes), tape::TrafficClass::kGradient, job_.turn());
  if (status == TransferStatus::kOk) {
    // Where the links were busy until now, the last bucket followed the others on their heels.
    const Nanoseconds ready = std::max(start + compute, start + compute / 3 + local);
    co_await world_.conductor.sleep_until(std::max(world_.conductor.now(), ready), job_.turn());
    status = co_await world_.transport.exchange(wide_hops(*plan, last_bytes),
                                                tape::TrafficClass::kGradient, job_.turn(),
                                                base::kNever, ready);
  }
  if (status != TransferStatus::kOk) {
    job_.begin(Activity::kWaitingForNetwork);  // the step is lost; the next turn plans anew
    co_return;
  }
  co_await world_.conductor.sleep_for(plan->extra_latency + local / buckets, job_.turn());
  job_.finish_step(start, compute);
}

std::int64_t DataParallel::gradient_bytes() const {
  return static_cast<std::int64_t>(static_cast<double>(world_.model.parameters) *
                                   world_.model.gradient_bytes);
}

Nanoseconds DataParallel::local_reduce_time() const {
  if (world_.network.model == engine::NetworkModel::kNone) return 0;
  Nanoseconds longest = 0;
  for (const std::uint16_t region : job_.regions()) {
    longest = std::max(longest, engine::local_all_reduce(world_.network.regions[region],
                                                         job_.joined_in(region), gradient_bytes()));
  }
  return longest;
}

// Two-level: the regions are the members of the wide ring. Flat ring: all slices are, laid out
// region by region, so each wide edge carries 2 (n-1)/n with n slices.
std::vector<engine::Hop> DataParallel::wide_hops(const engine::ReducePlan& plan,
                                                 std::int64_t payload_bytes) const {
  if (world_.training.reduce != ReduceKind::kRing) return plan.hops(payload_bytes);
  const auto members = static_cast<double>(job_.joined_count());
  return plan.edge_hops(static_cast<std::int64_t>(2 * (members - 1) / members *
                                                  static_cast<double>(payload_bytes)));
}

Nanoseconds exposed_reduction(Nanoseconds total, Nanoseconds compute, std::int64_t buckets) {
  if (total == 0) return 0;
  const Nanoseconds hidden = 2 * compute / 3 - 2 * compute / 3 / buckets;
  return std::max(total - hidden, total / buckets);
}

}  // namespace sim::methods

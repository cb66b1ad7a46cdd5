// sim/methods/elastic_step.cpp: a step of a job: computation, and the all-reduce among its slices.
#include <algorithm>

#include "sim/methods/elastic_job.h"

namespace sim::methods {

using tape::Activity;
using tape::TransferStatus;

Nanoseconds ElasticJob::next_period() const {
  const Nanoseconds compute = next_compute_time();
  return compute + reduction_.exposed_local_time(*this, compute);
}

engine::Task<bool> ElasticJob::run_steps(std::uint32_t most) {
  if (reduction_.is_wide(*this)) {
    const bool done = co_await step_over_links();
    co_return done;
  }
  const Nanoseconds start = world_.conductor.now();
  const Nanoseconds compute = next_compute_time();
  const Nanoseconds period = next_period();
  if (steps_are_alike() && most > 1) {
    co_await run_stretch(period, compute, most);
    co_return true;
  }
  expect_step_end(start + period);
  co_await world_.conductor.sleep_until(start + period, turn());
  finish_step(start, compute);
  co_return true;
}

// The first buckets leave once the forward pass and their share of the backward pass are done; the last
// one leaves when the whole backward pass is, and only it is exposed on fast links.
engine::Task<bool> ElasticJob::step_over_links() {
  const Nanoseconds start = world_.conductor.now();
  const Nanoseconds compute = next_compute_time();
  const auto plan = reduction_.plan(*this);
  if (!plan->left_out.empty()) {
    begin(Activity::kWaitingForNetwork);
    co_await world_.transport.network_changed().wait(turn());
    co_return false;
  }
  co_await world_.conductor.sleep_until(start + reduction_.first_ready(compute), turn());
  TransferStatus status = co_await world_.transport.exchange(
      reduction_.first_buckets(*this, *plan), tape::TrafficClass::kGradient, turn());
  if (status == TransferStatus::kOk) {
    const Nanoseconds ready =
        std::max(start + compute, start + compute / 3 + reduction_.local_time(*this));
    co_await world_.conductor.sleep_until(std::max(world_.conductor.now(), ready), turn());
    // Where the links were busy until now, the last bucket followed the others on their heels.
    status = co_await world_.transport.exchange(reduction_.last_bucket(*this, *plan),
                                                tape::TrafficClass::kGradient, turn(),
                                                base::kNever, ready);
  }
  if (status != TransferStatus::kOk) {
    // The step is lost; after its timeout the next one plans anew.
    begin(Activity::kWaitingForNetwork);
    co_await world_.conductor.sleep_for(world_.training.elasticity.timeout, turn());
    co_return false;
  }
  co_await world_.conductor.sleep_for(reduction_.tail(*this, *plan), turn());
  finish_step(start, compute);
  co_return true;
}

engine::Task<> ElasticJob::run_stretch(Nanoseconds period, Nanoseconds compute,
                                       std::uint32_t steps) {
  if (can_grow()) steps = 1;  // who returned during the upscale waits for the next boundary
  open_stretch(period, compute);
  // Billions of long steps would pass the end of time.
  const Nanoseconds most = (base::kNever - world_.conductor.now()) / period;
  Nanoseconds end =
      world_.conductor.now() + std::min(most, static_cast<Nanoseconds>(steps)) * period;
  for (;;) {
    const bool called = co_await attention_.wait_until(end, turn());
    if (!called) break;
    end = std::min(end, stretch_boundary());
  }
  close_stretch();
}

}  // namespace sim::methods

// sim/methods/elastic_job.cpp: see elastic_job.h.
#include "sim/methods/elastic_job.h"

#include <algorithm>

namespace sim::methods {

using tape::Activity;
using tape::TransferStatus;

void ElasticJob::start(Life life) { life_ = world_.conductor.spawn(life(), turn()); }

void ElasticJob::restart(Life life) {
  world_.conductor.kill(life_);
  start(std::move(life));
}

bool ElasticJob::reconfiguring() const {
  return activity() == Activity::kDownscaling || activity() == Activity::kUpscaling ||
         activity() == Activity::kRestarting;
}

bool ElasticJob::lose_slices(std::span<const std::uint32_t> slices) {
  const bool hit = std::ranges::any_of(slices, [this](std::uint32_t s) { return joined(s); });
  if (hit) close_stretch();
  for (const std::uint32_t slice : slices) lose(slice);
  const ElasticityOptions& options = world_.training.elasticity;
  const bool absorbed = options.elastic && options.second_hit == SecondHit::kAbsorb &&
                        reconfiguring() && joined_count() > 0;
  return hit && !absorbed;
}

void ElasticJob::return_slices(std::span<const std::uint32_t> slices) {
  for (const std::uint32_t slice : slices) find_repaired(slice);
  attention_.notify();
}

engine::Task<> ElasticJob::shrink() {
  const ElasticityOptions& options = world_.training.elasticity;
  if (options.detection > 0) {
    begin(Activity::kDetecting);
    co_await world_.conductor.sleep_for(options.detection, turn());
  }
  begin(Activity::kDownscaling);
  co_await world_.conductor.sleep_for(options.downscale, turn());
}

engine::Task<> ElasticJob::wait_and_restart(bool all) {
  const ElasticityOptions& options = world_.training.elasticity;
  if (options.detection > 0) {
    begin(Activity::kDetecting);
    co_await world_.conductor.sleep_for(options.detection, turn());
  }
  const auto enough = [&] { return all ? complete() : any_waiting(); };
  do {
    while (!enough()) {
      begin(Activity::kWaitingForRepair);
      co_await attention_.wait(turn());
    }
    begin(Activity::kRestarting);
    co_await world_.conductor.sleep_for(options.restart, turn());
  } while (!enough());  // what had returned was lost again meanwhile
  take_back_waiting();
}

engine::Task<> ElasticJob::grow() {
  begin(Activity::kUpscaling);
  co_await world_.conductor.sleep_for(world_.training.elasticity.upscale, turn());
  bool have_state = true;
  if (world_.training.elasticity.join_state) have_state = co_await fetch_state();
  if (have_state) take_back_waiting();
}

// One copy of the state to each region in which slices wait: over the fabric where the job is in
// that region already, else over the link from the nearest region that is.
engine::Task<bool> ElasticJob::fetch_state() {
  const std::vector<std::uint16_t> sources = regions();
  const auto bytes = static_cast<std::int64_t>(static_cast<double>(world_.model.parameters) *
                                               world_.model.state_bytes);
  for (const std::uint16_t target : waiting_regions()) {
    std::uint16_t source = target;
    if (!std::ranges::binary_search(sources, target)) {
      Nanoseconds nearest = base::kNever;
      for (const std::uint16_t candidate : sources) {
        if (!world_.transport.reachable(candidate, target)) continue;
        const Nanoseconds delay = world_.transport.one_way(candidate, target);
        if (delay < nearest) {
          nearest = delay;
          source = candidate;
        }
      }
      if (source == target) co_return false;
    }
    const TransferStatus status = co_await world_.transport.send(
        {source, target, bytes}, tape::TrafficClass::kJoin, turn());
    if (status != TransferStatus::kOk) co_return false;
  }
  co_return true;
}

engine::Task<> ElasticJob::run_stretch(Nanoseconds period, Nanoseconds compute,
                                       std::uint32_t steps) {
  open_stretch(period, compute);
  Nanoseconds end = world_.conductor.now() + static_cast<Nanoseconds>(steps) * period;
  for (;;) {
    const bool called = co_await attention_.wait_until(end, turn());
    if (!called) break;
    end = std::min(end, stretch_boundary());
  }
  close_stretch();
}

}  // namespace sim::methods

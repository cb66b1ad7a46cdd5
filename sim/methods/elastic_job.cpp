// sim/methods/elastic_job.cpp: see elastic_job.h.
#include "sim/methods/elastic_job.h"

#include <algorithm>
#include <set>

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
  // Those that wait start with the program: without one of them the start is void, also when it is
  // back before the start would have ended.
  const bool starting = activity() == Activity::kRestarting;
  const bool hit = std::ranges::any_of(
      slices, [&](std::uint32_t s) { return joined(s) || (starting && waits(s)); });
  if (hit) close_stretch();
  for (const std::uint32_t slice : slices) lose(slice);
  const ElasticityOptions& options = world_.training.elasticity;
  const bool any_left = joined_count() > 0 || (starting && any_waiting());
  const bool absorbed = options.elastic && options.second_hit == SecondHit::kAbsorb &&
                        reconfiguring() && any_left;
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
  } while (!enough());  // what had returned was lost again meanwhile, and that was absorbed
  take_back(waiting());
}

engine::Task<> ElasticJob::grow() {
  begin(Activity::kUpscaling);
  const std::vector<std::uint32_t> joining = joinable();
  co_await world_.conductor.sleep_for(world_.training.elasticity.upscale, turn());
  bool have_state = true;
  if (world_.training.elasticity.join_state) have_state = co_await fetch_state(joining);
  if (have_state) take_back(joining);
}

std::vector<std::uint32_t> ElasticJob::joinable() const {
  std::vector<std::uint32_t> slices = waiting();
  if (!world_.training.elasticity.join_state) return slices;
  std::erase_if(slices, [this](std::uint32_t slice) {
    return !state_source(world_.shape().slices[slice].region).has_value();
  });
  return slices;
}

void ElasticJob::network_changed() {
  if (any_waiting()) attention_.notify();
}

std::optional<std::uint16_t> ElasticJob::state_source(std::uint16_t target) const {
  std::optional<std::uint16_t> nearest;
  for (const std::uint16_t candidate : regions()) {
    if (!world_.transport.reachable(candidate, target)) continue;
    if (candidate == target) return target;
    if (!nearest || world_.transport.path_one_way(candidate, target) <
                        world_.transport.path_one_way(*nearest, target)) {
      nearest = candidate;
    }
  }
  return nearest;
}

// One copy of the state to each region in which slices join: over the fabric where the job is in
// that region already, else over the link from the nearest region that is.
engine::Task<bool> ElasticJob::fetch_state(const std::vector<std::uint32_t>& joining) {
  const auto bytes = static_cast<std::int64_t>(static_cast<double>(world_.model.parameters) *
                                               world_.model.state_bytes);
  std::set<std::uint16_t> targets;
  for (const std::uint32_t slice : joining) targets.insert(world_.shape().slices[slice].region);
  for (const std::uint16_t target : targets) {
    const std::optional<std::uint16_t> source = state_source(target);
    if (!source) co_return false;
    const TransferStatus status = co_await world_.transport.send(
        {*source, target, bytes}, tape::TrafficClass::kJoin, turn());
    if (status != TransferStatus::kOk) co_return false;
  }
  co_return true;
}

engine::Task<> ElasticJob::run_stretch(Nanoseconds period, Nanoseconds compute,
                                       std::uint32_t steps) {
  if (any_waiting()) steps = 1;  // who returned during the upscale waits for the next boundary
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

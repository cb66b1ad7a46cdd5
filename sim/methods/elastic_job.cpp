// sim/methods/elastic_job.cpp: losses, returns, partitions, and the job's state.
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
  return take_away(slices, &Job::lose);
}

bool ElasticJob::take_away(std::span<const std::uint32_t> slices,
                           void (Job::*take_out)(std::uint32_t)) {
  // Those that wait start with the program: without one of them the start is void, also when it is
  // back before the start would have ended.
  const bool starting = activity() == Activity::kRestarting;
  const bool hit = std::ranges::any_of(
      slices, [&](std::uint32_t s) { return joined(s) || (starting && waits(s)); });
  if (hit) close_stretch();
  for (const std::uint32_t slice : slices) {
    if (joined(slice)) keep_copy(slice);
    (this->*take_out)(slice);
  }
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

void ElasticJob::lose_hosts(std::span<const std::uint32_t> slices) {
  for (const std::uint32_t slice : slices) copies_.host_died(position_of(slice));
  holders_changed_.notify();
}

bool ElasticJob::network_changed() {
  if (any_waiting()) attention_.notify();
  holders_changed_.notify();
  if (!world_.training.elasticity.elastic) return false;
  const std::vector<std::uint32_t> there = all_joined();
  const std::vector<std::uint32_t> staying = on_largest_side(there);
  std::vector<std::uint32_t> cut_off;
  std::ranges::set_difference(there, staying, std::back_inserter(cut_off));
  return !cut_off.empty() && take_away(cut_off, &Job::set_apart);
}

// Those in a region that is down stay, too: the loss of slices that comes with it takes them.
std::vector<std::uint32_t> ElasticJob::on_largest_side(std::vector<std::uint32_t> slices) const {
  if (world_.network.model == engine::NetworkModel::kNone) return slices;
  ChipsIn chips;
  for (const std::uint32_t slice : slices) {
    const tape::SliceShape& shape = world_.shape().slices[slice];
    chips[shape.region] += shape.chips;
  }
  if (chips.size() < 2) return slices;
  const std::vector<std::uint16_t> side = largest_side(world_.transport, chips);
  std::erase_if(slices, [&](std::uint32_t slice) {
    const std::uint16_t region = world_.shape().slices[slice].region;
    return world_.transport.region_up(region) && !std::ranges::binary_search(side, region);
  });
  return slices;
}

engine::Task<> ElasticJob::notice() {
  const Nanoseconds detection = world_.training.elasticity.detection;
  if (detection == 0) co_return;
  begin(Activity::kDetecting);
  co_await world_.conductor.sleep_for(detection, turn());
}

engine::Task<> ElasticJob::shrink() {
  co_await notice();
  begin(Activity::kDownscaling);
  co_await world_.conductor.sleep_for(world_.training.elasticity.downscale, turn());
}

engine::Task<> ElasticJob::wait_and_restart(bool all) {
  co_await notice();
  const auto enough = [&] { return all ? complete() : any_waiting(); };
  do {
    while (!enough()) {
      begin(Activity::kWaitingForRepair);
      co_await attention_.wait(turn());
    }
    begin(Activity::kRestarting);
    co_await world_.conductor.sleep_for(world_.training.elasticity.restart, turn());
  } while (!enough());  // what had returned was lost again meanwhile, and that was absorbed
  take_back_as_they_are(all ? waiting() : on_largest_side(waiting()));
}

engine::Task<> ElasticJob::grow() {
  begin(Activity::kUpscaling);
  const std::vector<std::uint32_t> joining = joinable();
  co_await world_.conductor.sleep_for(world_.training.elasticity.upscale, turn());
  const bool have_state = co_await fetch_state(joining, tape::TrafficClass::kJoin);
  if (!have_state) co_return;
  take_back(joining);
  mark_live(joining);
}

// All that are joined hold the state, so who reaches them can get it and step with them.
std::vector<std::uint32_t> ElasticJob::joinable() const {
  std::vector<std::uint32_t> slices = waiting();
  std::erase_if(slices, [&](std::uint32_t slice) {
    return !nearest(regions(), world_.shape().slices[slice].region).has_value();
  });
  return slices;
}

}  // namespace sim::methods

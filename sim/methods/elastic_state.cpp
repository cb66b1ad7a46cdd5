// sim/methods/elastic_state.cpp: who holds a job's state, and how those who lack it get it.
#include <algorithm>
#include <set>

#include "sim/methods/elastic_job.h"

namespace sim::methods {

using tape::Activity;
using tape::TransferStatus;

std::size_t ElasticJob::position_of(std::uint32_t slice) const {
  const std::vector<std::uint32_t>& slices = shape().slices;
  return static_cast<std::size_t>(std::ranges::lower_bound(slices, slice) - slices.begin());
}

bool ElasticJob::holds_state(std::uint32_t slice) const {
  return copies_.holds(position_of(slice), total_steps());
}

void ElasticJob::keep_copy(std::uint32_t slice) {
  const bool host_keeps = world_.training.elasticity.recovery == Recovery::kHostMemory;
  copies_.leave(position_of(slice), total_steps(), host_keeps);
}

void ElasticJob::take_back_as_they_are(const std::vector<std::uint32_t>& slices) {
  for (const std::uint32_t slice : slices) {
    if (holds_state(slice)) {
      copies_.go_live(position_of(slice));
    } else {
      copies_.forget(position_of(slice));
    }
  }
  take_back(slices);
}

void ElasticJob::mark_live(const std::vector<std::uint32_t>& slices) {
  for (const std::uint32_t slice : slices) {
    if (joined(slice)) copies_.go_live(position_of(slice));
  }
}

bool ElasticJob::state_lives() const {
  return std::ranges::any_of(shape().slices,
                             [this](std::uint32_t slice) { return holds_state(slice); });
}

void ElasticJob::replace_state() {
  for (const std::uint32_t slice : shape().slices) copies_.forget(position_of(slice));
  mark_live(shape().slices);
}

std::vector<std::uint32_t> ElasticJob::joined_without_state() const {
  std::vector<std::uint32_t> slices = all_joined();
  std::erase_if(slices, [this](std::uint32_t slice) { return holds_state(slice); });
  return slices;
}

std::vector<std::uint16_t> ElasticJob::holding_regions() const {
  std::set<std::uint16_t> found;
  for (const std::uint32_t slice : shape().slices) {
    if (holds_state(slice)) found.insert(world_.shape().slices[slice].region);
  }
  return {found.begin(), found.end()};
}

std::optional<std::uint16_t> ElasticJob::nearest(const std::vector<std::uint16_t>& sources,
                                                 std::uint16_t target) const {
  std::optional<std::uint16_t> best;
  for (const std::uint16_t candidate : sources) {
    if (world_.network.model == engine::NetworkModel::kNone) return candidate;
    if (!world_.transport.reachable(candidate, target)) continue;
    if (candidate == target) return target;
    if (!best || world_.transport.path_one_way(candidate, target) <
                     world_.transport.path_one_way(*best, target)) {
      best = candidate;
    }
  }
  return best;
}

engine::Task<bool> ElasticJob::fetch_state(const std::vector<std::uint32_t>& slices,
                                           tape::TrafficClass traffic) {
  const bool free = !world_.training.elasticity.join_state ||
                    world_.network.model == engine::NetworkModel::kNone;
  const auto bytes = static_cast<std::int64_t>(static_cast<double>(world_.model.parameters) *
                                               world_.model.state_bytes);
  std::set<std::uint16_t> targets;
  for (const std::uint32_t slice : slices) {
    if (!holds_state(slice)) targets.insert(world_.shape().slices[slice].region);
  }
  for (const std::uint16_t target : targets) {
    const std::optional<std::uint16_t> source = nearest(holding_regions(), target);
    if (!source) co_return false;
    if (free) continue;
    const TransferStatus status =
        co_await world_.transport.send({*source, target, bytes}, traffic, turn());
    const bool donor_lived = std::ranges::binary_search(holding_regions(), *source);
    if (status != TransferStatus::kOk || !donor_lived) co_return false;
  }
  co_return true;
}

engine::Task<bool> ElasticJob::regain_state() {
  const ElasticityOptions& options = world_.training.elasticity;
  for (;;) {
    const std::vector<std::uint32_t> lacking = joined_without_state();
    if (lacking.empty()) co_return true;
    if (!state_lives()) co_return false;
    const std::vector<std::uint16_t> holders = holding_regions();
    const bool in_reach = std::ranges::all_of(lacking, [&](std::uint32_t slice) {
      return nearest(holders, world_.shape().slices[slice].region).has_value();
    });
    if (in_reach) {
      begin(Activity::kCopyingState);
      if (co_await fetch_state(lacking, tape::TrafficClass::kRecovery)) mark_live(lacking);
    } else if (options.elastic) {
      co_return false;
    } else {
      begin(Activity::kWaitingForNetwork);
      co_await holders_changed_.wait(turn());
    }
  }
}

}  // namespace sim::methods

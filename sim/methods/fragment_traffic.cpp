// sim/methods/fragment_traffic.cpp: see fragment_traffic.h.
#include "sim/methods/fragment_traffic.h"

#include <algorithm>

namespace sim::methods {

using tape::TransferStatus;

std::vector<std::uint16_t> fragments_due(const TrainingOptions& training, std::uint32_t step) {
  const auto fragments = static_cast<std::uint64_t>(training.fragments);
  const auto period = static_cast<std::uint64_t>(training.sync_every);
  const std::uint64_t phase =
      (step + period - static_cast<std::uint64_t>(training.first_take) % period) % period;
  std::vector<std::uint16_t> due;
  if (step == 0) return due;
  for (std::uint64_t p = 0; p < fragments; ++p) {
    if (phase == p * period / fragments) due.push_back(static_cast<std::uint16_t>(p));
  }
  return due;
}

std::int64_t wire_bytes(std::int64_t parameters, optim::WireFormat format) {
  constexpr std::int64_t kBitsPerByte = 8;
  const std::int64_t bits = optim::bits_per_value(format);
  // Without the product of all parameters, which could pass 2^63.
  return parameters / kBitsPerByte * bits +
         (parameters % kBitsPerByte * bits + kBitsPerByte - 1) / kBitsPerByte;
}

std::int64_t fragment_wire_bytes(const World& world, std::uint16_t fragment) {
  return wire_bytes(world.shape().fragment_parameters[fragment], world.training.wire);
}

std::int64_t value_bytes(const World& world, std::int64_t parameters) {
  return static_cast<std::int64_t>(static_cast<double>(parameters) *
                                   world.model.syncer_state_bytes / 2);
}

std::int64_t fragment_value_bytes(const World& world, std::uint16_t fragment) {
  return value_bytes(world, world.shape().fragment_parameters[fragment]);
}

engine::Task<TransferStatus> reduce_among_regions(World& world, std::vector<std::uint16_t> regions,
                                                  std::uint16_t lead, std::int64_t bytes) {
  const engine::Turn turn{engine::Priority::kDecision, 0};
  const bool joined = std::ranges::all_of(regions, [&](std::uint16_t region) {
    return world.transport.reachable(lead, region);
  });
  if (!joined) co_return TransferStatus::kLinkDown;
  const auto plan = world.transport.plan(regions, bytes);
  const TransferStatus status = co_await world.transport.exchange(
      plan->hops(bytes), tape::TrafficClass::kFragment, turn);
  if (status != TransferStatus::kOk) co_return status;
  co_await world.conductor.sleep_for(plan->extra_latency, turn);
  co_return TransferStatus::kOk;
}

}  // namespace sim::methods

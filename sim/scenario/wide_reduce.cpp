// sim/scenario/wide_reduce.cpp: see wide_reduce.h.
#include "sim/scenario/wide_reduce.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "sim/engine/network_view.h"

namespace sim::scenario {
namespace {

[[noreturn]] void refuse(const engine::NetworkOptions& network, std::uint16_t a, std::uint16_t b) {
  throw std::invalid_argument(fmt::format("regions {} and {} must talk and cannot",
                                          network.regions[a].name, network.regions[b].name));
}

}  // namespace

WideReduce wide_reduce(NominalPlans& plans, const std::vector<std::uint16_t>& regions,
                       std::int64_t payload_bytes) {
  const engine::NetworkOptions& network = plans.network();
  if (network.model == engine::NetworkModel::kNone || regions.size() < 2) return {};
  const std::int64_t payload = std::max<std::int64_t>(1, payload_bytes);
  const engine::ReducePlan& plan = plans.plan(regions, payload);
  if (!plan.left_out.empty()) refuse(network, plan.members.front(), plan.left_out.front());
  WideReduce result;
  const base::Nanoseconds nothing = plan.exchange_time(0);
  result.delay = nothing + plan.extra_latency;
  result.s_per_byte = base::to_seconds(plan.time(payload) - result.delay) / static_cast<double>(payload);
  return result;
}

base::Nanoseconds one_way_delay(const engine::NetworkOptions& network, std::uint16_t source,
                                std::uint16_t target) {
  if (network.model == engine::NetworkModel::kNone || source == target) return 0;
  const engine::Path path = engine::PathFinder(engine::nominal_view(network)).usual(source, target);
  if (path.regions.empty()) refuse(network, source, target);
  return path.one_way;
}

}  // namespace sim::scenario

// sim/scenario/link_forecast.cpp: see link_forecast.h.
#include "sim/scenario/link_forecast.h"

#include <algorithm>

#include "optim/wire_format.h"
#include "sim/methods/fragment_traffic.h"
#include "sim/scenario/arm_fleet.h"

namespace sim::scenario {

using base::Nanoseconds;
using methods::MethodKind;
using methods::TrainingOptions;

namespace {

// By (source, target) of a direct link.
using LaneBytes = std::map<std::pair<std::uint16_t, std::uint16_t>, double>;

LinkBytes by_link(const engine::NetworkOptions& network, const LaneBytes& lanes) {
  LinkBytes result;
  for (const auto& [ends, bytes] : lanes) {
    const engine::LinkOptions& link =
        *find_link(network, network.regions[ends.first].name, network.regions[ends.second].name);
    double& most = result[{link.region_a, link.region_b}];
    most = std::max(most, bytes);
  }
  return result;
}

std::int64_t gradient_bytes(const Scenario& scenario) {
  return static_cast<std::int64_t>(static_cast<double>(scenario.model.parameters) *
                                   scenario.model.gradient_bytes);
}

// What an edge carries of each byte that is reduced: the slices are the members of a flat ring.
double edge_share(const Scenario& scenario, const TrainingOptions& training, std::size_t regions) {
  const bool flat = training.method == MethodKind::kDataParallel &&
                    training.reduce == methods::ReduceKind::kRing;
  const auto n = static_cast<double>(
      flat ? used_slices(scenario, training) : static_cast<std::int64_t>(regions));
  return 2 * (n - 1) / n;
}

LaneBytes ring_bytes(const Scenario& scenario, const TrainingOptions& training,
                     std::int64_t planned_bytes, double payload, NominalPlans& plans) {
  const engine::ReducePlan& plan =
      plans.plan(used_region_indices(scenario, training), planned_bytes);
  LaneBytes lanes;
  for (const auto& ends : plan.hops_crossed) {
    lanes[ends] += edge_share(scenario, training, plan.members.size()) * payload;
  }
  return lanes;
}

// Every learner sends its fragment to the centre and gets one back; both ways carry the same.
LaneBytes star_bytes(const Scenario& scenario, const TrainingOptions& training,
                     const methods::Fleet& fleet, double payload) {
  const engine::PathFinder finder(engine::nominal_view(scenario.network));
  const std::uint16_t center = engine::region_index(scenario.network, training.syncer.region);
  LaneBytes lanes;
  for (const auto& learner : fleet.shape.learners) {
    if (learner.region == center) continue;
    const std::vector<std::uint16_t> path = finder.usual(learner.region, center).regions;
    for (std::size_t i = 0; i + 1 < path.size(); ++i) lanes[{path[i], path[i + 1]}] += payload;
  }
  return lanes;
}

}  // namespace

std::int64_t largest_fragment_bytes(const TrainingOptions& training, const methods::Fleet& fleet) {
  const auto& sizes = fleet.shape.fragment_parameters;
  return methods::wire_bytes(*std::max_element(sizes.begin(), sizes.end()), training.wire);
}

std::vector<std::uint16_t> used_region_indices(const Scenario& scenario,
                                               const TrainingOptions& training) {
  std::vector<std::uint16_t> indices;
  for (const std::string& name : used_regions(scenario, training)) {
    indices.push_back(engine::region_index(scenario.network, name));
  }
  return indices;
}

const engine::ReducePlan& NominalPlans::plan(const std::vector<std::uint16_t>& regions,
                                             std::int64_t payload_bytes) {
  const auto [known, is_new] = made_.try_emplace({regions, payload_bytes});
  if (is_new) {
    known->second = engine::plan_all_reduce(engine::nominal_view(network_), regions, payload_bytes);
  }
  return known->second;
}

LinkBytes bytes_per_step(const Scenario& scenario, const TrainingOptions& training,
                         const methods::Fleet& fleet, NominalPlans& plans) {
  if (scenario.network.model == engine::NetworkModel::kNone) return {};
  if (training.method == MethodKind::kDataParallel) {
    const std::int64_t bytes = gradient_bytes(scenario);
    return by_link(scenario.network,
                   ring_bytes(scenario, training, bytes, static_cast<double>(bytes), plans));
  }
  const double payload = static_cast<double>(scenario.model.parameters) *
                         (optim::bits_per_value(training.wire) / 8.0) /
                         static_cast<double>(training.sync_every);
  const bool central = training.method == MethodKind::kDecoupledDiloco &&
                       training.syncer.placement == methods::SyncerPlacement::kCentral;
  return by_link(scenario.network,
                 central ? star_bytes(scenario, training, fleet, payload)
                         : ring_bytes(scenario, training, largest_fragment_bytes(training, fleet),
                                      payload, plans));
}

Nanoseconds sync_time(const Scenario& scenario, const TrainingOptions& training,
                      const methods::Fleet& fleet, NominalPlans& plans) {
  if (scenario.network.model == engine::NetworkModel::kNone) return 0;
  const std::int64_t bytes = largest_fragment_bytes(training, fleet);
  return plans.plan(used_region_indices(scenario, training), bytes).time(bytes);
}

}  // namespace sim::scenario

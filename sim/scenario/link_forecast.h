// sim/scenario/link_forecast.h: what an arm asks of its links, from the plan that the run will use.
//
// Everything healthy: the same planner (engine/reduce_plan.h) on nominal rates gives the same rings and
// the same seconds as the simulation.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/time.h"
#include "sim/engine/reduce_plan.h"
#include "sim/methods/fleet.h"
#include "sim/scenario/scenario.h"

namespace sim::scenario {

// Bytes that cross a link in one step, in the direction that carries more; by the regions of the link
// in the order of the file.
using LinkBytes = std::map<std::pair<std::string, std::string>, double>;

// Position of each region that the arm uses.
std::vector<std::uint16_t> used_region_indices(const Scenario& scenario,
                                               const methods::TrainingOptions& training);

// Plans on healthy links, each made once: with many regions a search takes longer than all the rest.
class NominalPlans {
 public:
  // The network outlives it.
  explicit NominalPlans(const engine::NetworkOptions& network) : network_(network) {}
  // For an all-reduce of `payload_bytes` among the regions at these positions, ascending.
  const engine::ReducePlan& plan(const std::vector<std::uint16_t>& regions, std::int64_t payload_bytes);
  const engine::NetworkOptions& network() const { return network_; }

 private:
  const engine::NetworkOptions& network_;
  std::map<std::pair<std::vector<std::uint16_t>, std::int64_t>, engine::ReducePlan> made_;
};

// Of the arm's steady state: gradients each step, or a fragment's share of them, round the ring or to
// the one syncer and back. Empty without a network model.
LinkBytes bytes_per_step(const Scenario& scenario, const methods::TrainingOptions& training,
                         const methods::Fleet& fleet, NominalPlans& plans);

// In the arm's wire format.
std::int64_t largest_fragment_bytes(const methods::TrainingOptions& training, const methods::Fleet& fleet);

// All-reduce of the largest fragment between regions, alone on the links.
base::Nanoseconds sync_time(const Scenario& scenario, const methods::TrainingOptions& training,
                            const methods::Fleet& fleet, NominalPlans& plans);

}  // namespace sim::scenario

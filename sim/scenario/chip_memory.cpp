// sim/scenario/chip_memory.cpp: see chip_memory.h.
#include "sim/scenario/chip_memory.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/scenario/arm_fleet.h"

namespace sim::scenario {

std::vector<MemoryMisfit> memory_misfits(const Scenario& scenario) {
  std::vector<MemoryMisfit> misfits;
  if (scenario.ignore_memory) return misfits;
  const methods::NominalModelOptions& model = scenario.model;
  constexpr double kGiga = 1e9;
  const double held = static_cast<double>(model.parameters) * (model.state_bytes + model.gradient_bytes);
  for (std::size_t i = 0; i < scenario.islands.size(); ++i) {
    const methods::IslandOptions& island = scenario.islands[i];
    const auto chips = static_cast<double>(island.chips / island.slices);
    if (island.chip_memory == 0 || held <= chips * island.chip_memory) continue;
    const auto uses = [&](const Arm& arm) { return used_count(island, arm.training.use) > 0; };
    if (std::ranges::none_of(scenario.arms, uses)) continue;
    misfits.push_back(
        {i,
         fmt::format("\"{}\": a slice holds the model once: {:.4g} parameters x ({:g} state + {:g} gradient) "
                     "bytes = {:.4g} GB, on {:.0f} chips of {:.4g} GB = {:.4g} GB",
                     island.name, static_cast<double>(model.parameters), model.state_bytes,
                     model.gradient_bytes, held / kGiga, chips, island.chip_memory / kGiga,
                     chips * island.chip_memory / kGiga),
         std::ranges::any_of(scenario.arms, [&](const Arm& arm) {
           return uses(arm) && arm.training.step_time == 0;
         })});
  }
  return misfits;
}

}  // namespace sim::scenario

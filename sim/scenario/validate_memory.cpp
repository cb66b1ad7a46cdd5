// sim/scenario/validate_memory.cpp: a model that its chips cannot hold is refused.
#include <fmt/format.h>

#include "sim/scenario/chip_memory.h"
#include "sim/scenario/validate.h"

namespace sim::scenario {

void validate_memory(const Bound& bound, base::Problems& problems) {
  for (const MemoryMisfit& misfit : memory_misfits(bound.scenario)) {
    if (!misfit.chips_are_meant) continue;  // a warning of `atoll validate`
    problems.add(place_of(bound.root, {"island", std::to_string(misfit.island), "chips"}),
                 fmt::format("cannot hold the model; {}; got {} slices of {} chips in all", misfit.message,
                             bound.scenario.islands[misfit.island].slices,
                             bound.scenario.islands[misfit.island].chips),
                 std::string(kMemoryHint));
  }
}

}  // namespace sim::scenario

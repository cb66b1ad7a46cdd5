// sim/experiment/gate_point.h: what makes two points of two sweeps the same one: the values, however written.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/experiment/sweep_plan.h"

namespace sim::experiment {

// "failure.chips.mtbi = 7776000 time": one per axis, sorted; a quantity in its base unit with twelve digits,
// so that neither the order of axes nor "2160 h" for "90 d" makes another point.
std::vector<std::string> values_at(const SweepPlan& plan, std::uint64_t point);

// The name of a point whose values another one has, too. Such points would be told apart by nothing.
std::optional<std::string> point_held_twice(const SweepPlan& plan);

}  // namespace sim::experiment

// sim/methods/fleet.h: from the physical fleet and an arm to the shape of a run.
//
// Physical things (regions, islands, slices) come out the same for every arm, in the order of the
// file; only learners and slots are the arm's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/engine/network_options.h"
#include "sim/methods/fleet_options.h"
#include "sim/methods/training_options.h"
#include "sim/tape/run_shape.h"

namespace sim::methods {

struct Fleet {
  tape::RunShape shape;
  std::vector<double> slice_speed;  // of its island, the drawn factor included
  // Compute rate of each slice, FLOP/s: chips x peak x utilization x speed.
  std::vector<double> slice_flops_per_s;
  // As in shape.slices: compute time of one step of each slice on its own tokens; 0 for unused slices,
  // and where it is below half a nanosecond.
  std::vector<Nanoseconds> slice_step_time;
};

// Builds islands, slices, learners, slots and fragments.
//
//   step time of a slice = 6 x parameters x its tokens / its FLOP/s
//
// or, where step_time is given as that of the whole fleet at speed 1,
//
//   step time of a slice = step_time x (its tokens / batch tokens) x (fleet's chips / its chips) / speed
//
// `slots` is the number of examples in the global batch; with 0 (no mathematics) every used slice
// gets one slot. Tokens and slots are shared out by the same weights, each rounded on its own, so
// that they add up and the proxy's batch does not change nominal time.
// Random: stream ("speed/" + island), two words, when island_sd > 0.
// Errors: std::invalid_argument with a rule, for what the scenario's checks should have refused.
Fleet make_fleet(const NominalModelOptions& model, const SpeedSpreadOptions& spread,
                 const engine::NetworkOptions& network, const std::vector<IslandOptions>& islands,
                 const TrainingOptions& training, std::uint32_t slots, std::uint64_t seed);

// Compute time of one step of a used slice on its own tokens, in seconds and not rounded.
double slice_step_s(const NominalModelOptions& model, const TrainingOptions& training,
                    const Fleet& fleet, std::size_t slice);

}  // namespace sim::methods

// sim/scenario/chip_memory.h: does a model with its optimizer's state fit the chips of its slice?
//
// A slice is a replica: parameters, inner state and gradients are sharded over its chips and held once in
// each slice, by every method. Activations are left out, so what does not fit here fits in no case.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "sim/scenario/scenario.h"

namespace sim::scenario {

struct MemoryMisfit {
  std::size_t island;    // position in the file
  std::string message;   // the arithmetic
  // Some arm reckons its step from these chips, so they are meant. Where every arm that uses them gives
  // its step_time, they may stand for others.
  bool chips_are_meant;
};

// Of islands in use whose chips' memory is known; none with memory = "ignore".
std::vector<MemoryMisfit> memory_misfits(const Scenario& scenario);

constexpr std::string_view kMemoryHint =
    "fewer slices, more chips, or a smaller model.state_bytes; memory = \"ignore\" runs it as it is";

}  // namespace sim::scenario

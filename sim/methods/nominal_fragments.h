// sim/methods/nominal_fragments.h: how many nominal parameters each fragment of an arm holds.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/methods/fleet_options.h"
#include "sim/methods/training_options.h"

namespace sim::methods {

// From the tensor list of the nominal transformer:
//   balanced    tensors by greedy packing (Decoupled DiLoCo, arXiv:2604.21428, Appendix C)
//   strided     layer l into fragment l mod P     (Streaming DiLoCo, arXiv:2501.18512)
//   sequential  layer l into fragment floor(l P / L)
// The embedding goes with the first layer (assumed; the paper speaks of layers only). Without a list,
// or with fewer parts in it than fragments, all fragments are equal to within one parameter.
// Data parallel has one fragment: the model.
// Shapes: (P).
std::vector<std::int64_t> nominal_fragments(const NominalModelOptions& model,
                                            const TrainingOptions& training);

}  // namespace sim::methods

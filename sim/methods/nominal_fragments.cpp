// sim/methods/nominal_fragments.cpp: see nominal_fragments.h.
#include "sim/methods/nominal_fragments.h"

#include "optim/fragments.h"

namespace sim::methods {
namespace {

std::vector<std::int64_t> equal_parts(std::int64_t parameters, std::int64_t parts) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t p = 0; p < parts; ++p) {
    sizes.push_back(parameters * (p + 1) / parts - parameters * p / parts);
  }
  return sizes;
}

std::vector<std::int64_t> packed(const std::vector<std::int64_t>& tensors, std::size_t parts) {
  const auto fragment_of = optim::pack_balanced(tensors, parts);
  std::vector<std::int64_t> sizes(parts, 0);
  for (std::size_t t = 0; t < tensors.size(); ++t) sizes[fragment_of[t]] += tensors[t];
  return sizes;
}

// `tensors`: the embedding, then the same number for each layer.
std::vector<std::int64_t> by_layers(const std::vector<std::int64_t>& tensors, std::size_t layers,
                                    std::size_t parts, FragmentPartition partition) {
  std::vector<std::int64_t> sizes(parts, 0);
  sizes[0] = tensors[0];
  const std::size_t per_layer = (tensors.size() - 1) / layers;
  for (std::size_t t = 1; t < tensors.size(); ++t) {
    const std::size_t layer = (t - 1) / per_layer;
    const bool strided = partition == FragmentPartition::kStrided;
    sizes[strided ? layer % parts : layer * parts / layers] += tensors[t];
  }
  return sizes;
}

}  // namespace

std::vector<std::int64_t> nominal_fragments(const NominalModelOptions& model,
                                            const TrainingOptions& training) {
  if (training.method == MethodKind::kDataParallel) return {model.parameters};
  const auto parts = static_cast<std::size_t>(training.fragments);
  const auto tensors =
      optim::nominal_tensors(model.parameters, model.layers, model.width, model.vocabulary);
  if (training.partition == FragmentPartition::kBalanced) {
    if (tensors.size() >= parts) return packed(tensors, parts);
  } else if (!tensors.empty() && model.layers >= training.fragments) {
    return by_layers(tensors, static_cast<std::size_t>(model.layers), parts, training.partition);
  }
  return equal_parts(model.parameters, training.fragments);
}

}  // namespace sim::methods

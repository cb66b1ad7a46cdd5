// optim/model.cpp: makes the model that the options name.
#include "optim/model.h"

#include <fmt/format.h>

#include <stdexcept>

#include "optim/network_model.h"
#include "optim/quadratic_model.h"
#include "optim/transformer_model.h"

namespace optim {
namespace {

void check_positive(const char* what, std::size_t value) {
  if (value == 0) throw std::invalid_argument(fmt::format("{} must be at least 1; got 0", what));
}

}  // namespace

std::unique_ptr<Model> make_model(const ModelOptions& options) {
  if (options.kind == ModelKind::kNone) {
    throw std::invalid_argument("a model of kind none has no parameters to train");
  }
  if (options.kind == ModelKind::kTransformer) {
    return std::make_unique<TransformerModel>(TransformerShape{
        options.outputs, options.context, options.width, options.heads, options.layers});
  }
  check_positive("inputs", options.inputs);
  if (options.kind == ModelKind::kQuadratic) {
    return std::make_unique<QuadraticModel>(options.inputs, options.condition_number);
  }
  check_positive("outputs", options.outputs);
  std::vector<std::size_t> widths = {options.inputs};
  if (options.kind == ModelKind::kMlp) {
    check_positive("hidden", options.hidden);
    check_positive("layers", options.layers);
    widths.insert(widths.end(), options.layers, options.hidden);
  }
  widths.push_back(options.outputs);
  return std::make_unique<NetworkModel>(std::move(widths));
}

}  // namespace optim

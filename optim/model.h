// optim/model.h: a model as pure functions over one flat, aligned block of parameters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "optim/batch.h"

namespace optim {

// One tensor: a row-major matrix (rows x cols) at `offset` of the flat parameters. Every offset is
// fixed by the model and a multiple of 16 floats: in an AlignedBlock each tensor starts a cache
// line. Results do not depend on where a block lies.
struct Tensor {
  std::string name;
  std::size_t offset, rows, cols;
  bool embedding;  // merged by plain averaging, not RDA
  bool decay;      // weight decay applies
  std::size_t size() const { return rows * cols; }
};

class Model {
 public:
  virtual ~Model() = default;
  virtual const std::vector<Tensor>& tensors() const = 0;
  virtual std::size_t parameter_count() const = 0;  // sum of tensor sizes
  virtual std::size_t block_size() const = 0;       // floats in the flat block, padding included

  // Initial parameters: a function of the seed only. Padding is zero and stays zero.
  virtual void initialise(std::uint64_t seed, std::span<float> parameters) const = 0;

  // Adds the *sum* over the batch's examples of d loss / d parameters to `gradient` and returns the
  // *sum* of the losses. The caller divides by the examples it averages over.
  // `scratch` is grown once and reused; no allocation after the first call of a batch size.
  virtual double loss_and_gradient(std::span<const float> parameters, const Batch& batch,
                                   std::span<float> gradient, std::vector<float>& scratch) const = 0;
  // Sum of the losses only.
  virtual double loss(std::span<const float> parameters, const Batch& batch,
                      std::vector<float>& scratch) const = 0;
};

enum class ModelKind : std::uint8_t { kNone, kQuadratic, kSoftmax, kMlp, kTransformer };

struct ModelOptions {
  ModelKind kind;
  std::size_t inputs;      // features per example (quadratic: dimension); unused by the transformer
  std::size_t outputs;     // classes, or the transformer's vocabulary; unused by the quadratic
  std::size_t hidden;      // mlp: width of each hidden layer
  std::size_t layers;      // mlp: hidden layers; transformer: blocks
  double condition_number; // quadratic: largest over smallest curvature
  std::size_t width = 0;   // transformer: floats per position
  std::size_t heads = 0;   // transformer: must divide `width`
  std::size_t context = 0; // transformer: positions of an example
};

// Errors: std::invalid_argument for sizes of 0, heads that do not divide the width, or kind kNone.
std::unique_ptr<Model> make_model(const ModelOptions& options);

}  // namespace optim

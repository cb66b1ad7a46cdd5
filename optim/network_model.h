// optim/network_model.h: affine layers with GELU between them, under softmax cross-entropy.
//
// Without hidden layers it is softmax regression, with them a multi-layer perceptron.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "optim/dense.h"
#include "optim/layout.h"
#include "optim/model.h"

namespace optim {

//   z_l = a_l W_l + b_l         (B x I_l) (I_l x O_l) (O_l);  a_0 the inputs
//   a_(l+1) = gelu(z_l)         (B x O_l), between layers only
//   loss = sum over examples of cross_entropy(z_last, target)
//
// Tensors: per layer a weight (I x O, decayed) and a bias (1 x O, not decayed). The first weight of
// a network with hidden layers counts as the embedding: with one-hot inputs its rows are exactly
// the vectors of the symbols.
// Initial: weights normal with sd sqrt(2 / I) before a GELU and sqrt(1 / I) at the output, biases
// zero; the output of a network without hidden layers has sd 0.02.
class NetworkModel : public Model {
 public:
  // Widths from input to output, at least two of them.
  explicit NetworkModel(std::vector<std::size_t> widths);

  const std::vector<Tensor>& tensors() const override { return layout_.tensors(); }
  std::size_t parameter_count() const override { return layout_.parameter_count(); }
  std::size_t block_size() const override { return layout_.block_size(); }
  void initialise(std::uint64_t seed, std::span<float> parameters) const override;
  // Examples cut into several batches give the bits of one: every sum runs by example.
  double loss_and_gradient(std::span<const float> parameters, const Batch& batch,
                           std::span<float> gradient, std::vector<float>& scratch) const override;
  double loss(std::span<const float> parameters, const Batch& batch,
              std::vector<float>& scratch) const override;

 private:
  std::size_t layer_count() const { return widths_.size() - 1; }
  LayerShape shape(std::size_t layer, std::size_t examples) const {
    return {examples, widths_[layer], widths_[layer + 1]};
  }
  std::size_t scratch_floats(std::size_t examples) const;
  void check(std::span<const float> parameters, const Batch& batch) const;
  void forward(const float* parameters, std::size_t layer, std::size_t examples,
               const float* inputs, float* outputs) const;

  std::vector<std::size_t> widths_;
  Layout layout_;
};

}  // namespace optim

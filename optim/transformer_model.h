// optim/transformer_model.h: a decoder-only transformer with hand-written backward.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "optim/model.h"
#include "optim/transformer_arrays.h"
#include "optim/transformer_layout.h"

namespace optim {

// Per sequence of tokens s_1 ... s_T:
//   x_t     = embedding[s_t] + position[t]                                        (D)
//   per block:
//     x    += attention(norm1(x) W_qkv + b_qkv) W_attention + b_attention         (T x D)
//     x    += gelu(norm2(x) W_wide + b_wide) W_narrow + b_narrow                  (T x D)
//   logits  = norm_final(x) embedding^T                                           (T x V)
//   loss    = sum over sequences of the mean over positions of cross_entropy(logits_t, target_t)
// attention: causal, per head (attention.h); norms: layer_norm.h; GELU in tanh form (gelu.h).
//
// Order:  sums over rows ascend by sequence, then position, within each sequence on its own; so a batch
//         cut in two gives the gradient's bits of one, and how many sequences are handled at once
//         moves no bit.
// Source: Radford et al. 2019 (GPT-2): pre-norm blocks, tied embedding, learned positions.
class TransformerModel : public Model {
 public:
  // Requires: as TransformerLayout.
  explicit TransformerModel(const TransformerShape& shape) : layout_(shape) {}

  const std::vector<Tensor>& tensors() const override { return layout_.layout().tensors(); }
  std::size_t parameter_count() const override { return layout_.layout().parameter_count(); }
  std::size_t block_size() const override { return layout_.layout().block_size(); }
  void initialise(std::uint64_t seed, std::span<float> parameters) const override {
    layout_.initialise(seed, parameters);
  }
  // Batches in the form of tokens (batch.h).
  // Errors: std::invalid_argument for wrong shapes, and for tokens or targets outside the vocabulary.
  double loss_and_gradient(std::span<const float> parameters, const Batch& batch,
                           std::span<float> gradient, std::vector<float>& scratch) const override;
  double loss(std::span<const float> parameters, const Batch& batch,
              std::vector<float>& scratch) const override;

 private:
  // Some sequences of a batch.
  struct Sequences {
    std::size_t count;
    std::span<const std::int32_t> tokens, targets;  // (count x T)
  };

  void check(std::span<const float> parameters, const Batch& batch) const;
  template <typename Use>
  void for_each_group(const Batch& batch, const Use& use) const;
  void forward(const float* parameters, const Sequences& sequences, TransformerArrays& arrays) const;
  void forward_block(const float* parameters, std::size_t layer, TransformerArrays& arrays) const;
  double losses(const Sequences& sequences, float weight, TransformerArrays& arrays) const;
  void backward(const float* parameters, const Sequences& sequences, TransformerArrays& arrays,
                float* gradient) const;
  void backward_block(const float* parameters, std::size_t layer, TransformerArrays& arrays,
                      float* gradient) const;
  void backward_attention(const BlockArrays& block, TransformerArrays& arrays) const;
  void backward_embedding(const Sequences& sequences, TransformerArrays& arrays,
                          float* gradient) const;

  TransformerLayout layout_;
};

}  // namespace optim

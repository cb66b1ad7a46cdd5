// optim/merge.h: how the learners' copies of a fragment become one outer gradient.
//
// One kernel for all methods: weights w / sum w, in double, summed in an order that depends on the
// contributions alone (by weight, then by the bits of the values), so arrival cannot move a bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "optim/fragments.h"

namespace optim {

enum class MergeKind : std::uint8_t { kAverage, kRda };
enum class RdaGranularity : std::uint8_t { kTensor, kRow, kFragment };

struct MergeOptions {
  MergeKind kind;             // for tensors that are no embeddings
  RdaGranularity granularity;
};

struct Contribution {
  double weight;                 // > 0; need not be normalised
  std::span<const float> values; // the learner's fragment, packed: pieces one after another, (F)
};

// delta_i = anchor - values_i ;  Avg = sum w_i delta_i / sum w_i
// RDA     = (sum w_i ||delta_i|| / sum w_i) * phi(sum w_i phi(delta_i) / sum w_i), phi(x) = x/||x||,
// per tensor (that is, per piece), per row or over the whole fragment; pieces of embeddings use Avg
// always. phi(0) = 0; when the mean direction vanishes the block falls back to Avg.
// The paper prints the radial factor as a vector; a scalar is meant (facts 1.6).
// Shapes:   anchor, every values and result (F), F = fragment.size; all overwritten in `result`.
// Requires: those sizes, at least one contribution, positive finite weights; else
//           std::invalid_argument with `result` untouched.
// Missing:  leave the learner out; never pass zeros or NaN for it.
// Source: arXiv:2604.21428, Appendix D.2.
void merge(const MergeOptions& options, const std::vector<Tensor>& tensors, const Fragment& fragment,
           std::span<const float> anchor, std::span<const Contribution> contributions,
           std::span<double> result);

// c_tokens * (c_tokens / c_steps): quantity times quality. 0 when either is 0.
double token_weight(double counted_tokens, double counted_steps);

}  // namespace optim

// optim/cross_entropy.h: softmax and cross-entropy of one example, with the gradient.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace optim {

// Returns log(sum_j e^(z_j - max)) + max - z_target and overwrites the logits z (C) by the gradient
// softmax(z) - onehot(target).
//
// Requires: 0 <= target < C; else std::invalid_argument.
// Order:    the sum runs by class, in double.
double cross_entropy_and_gradient(std::span<float> logits, std::int32_t target);

// The loss only; the logits are overwritten by e^(z - max).
double cross_entropy(std::span<float> logits, std::int32_t target);

// The same for many rows (R x C, dense), a target each, with the gradient times `weight`: returns the
// sum of the losses, by row. Without `weight` (0) the logits are left as e^(z - max).
// Order: the sum over a row runs in sixteen float lanes by class, folded by halves.
double cross_entropy_of_rows(std::size_t classes, std::span<const std::int32_t> targets,
                             float weight, float* logits);

}  // namespace optim

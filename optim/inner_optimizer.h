// optim/inner_optimizer.h: what a learner does with a gradient at every step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "optim/aligned_block.h"
#include "optim/model.h"

namespace optim {

enum class InnerKind : std::uint8_t { kSgd, kAdamW };

struct InnerOptions {
  InnerKind kind;
  double learning_rate;   // peak
  double beta1, beta2, epsilon;
  double weight_decay;    // decoupled; on tensors with `decay`
  double clip_norm;       // global gradient norm; 0: no clipping
};

// Moments live with the learner, are never reset by an outer merge and never communicated, except
// when a recovering learner copies a peer.
struct InnerState {
  AlignedBlock first, second;  // (block_size); empty for SGD
  std::uint64_t updates = 0;
};

InnerState make_inner_state(const InnerOptions& options, std::size_t block_size);

// One update in place, in the order computed:
//   g      = gradient * min(1, clip_norm / ||gradient||)
//   m      = beta1 m + (1 - beta1) g ;  v = beta2 v + (1 - beta2) g^2
//   theta -= rate * ( m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + epsilon) + weight_decay theta )
// with rate = learning_rate * schedule_factor; for SGD theta -= rate * (g + weight_decay theta), and
// moments are empty. Weight decay acts on tensors with `decay` only. `gradient` is scaled in place
// when clipped. A norm that is not a number passes through: the run reports divergence.
// Requires: parameters and gradient (block_size), moments as made by make_inner_state for the same
// options; else std::invalid_argument.
// Order:    the norm is summed in 16 double lanes (float i in lane i mod 16), folded in lane order;
//           everything else is element by element. Same bits at every address.
// Source: Loshchilov & Hutter 2019, "Decoupled weight decay regularization", Algorithm 2;
// same form as torch.optim.AdamW.
void inner_update(const InnerOptions& options, double schedule_factor, const Model& model,
                  std::span<float> parameters, std::span<float> gradient, InnerState& state);

enum class ScheduleKind : std::uint8_t { kConstant, kCosine, kWsd };

struct ScheduleOptions {
  ScheduleKind kind;
  double warmup_tokens;
  double horizon_tokens;   // cosine, wsd: where the decay ends
  double final_factor;     // of the peak, at the horizon
  double decay_share;      // wsd: last share of the horizon in which it decays linearly
};

// Factor on the peak learning rate after `tokens` nominal tokens of schedule; linear warm-up first.
double schedule_factor(const ScheduleOptions& options, double tokens);

}  // namespace optim

// optim/attention.h: causal self-attention of one head over one sequence, and its derivative.
//
//   S_ij = q_i . k_j / sqrt(D)                       (T x T), j <= i
//   P_i  = softmax over j <= i of S_i ; 0 beyond     (T x T)
//   o_i  = sum over j <= i of P_ij v_j               (T x D)
//
// Rows are handled in blocks of 16, and what lies right of a block's diagonal is not computed.
// Shapes: T positions, D floats of a head.
// Order:  sums over D and over positions ascend; a row's softmax sums in sixteen lanes.
// Source: Vaswani et al. 2017, arXiv:1706.03762, equation 1, with the mask of section 3.2.3.
#pragma once

#include <cstddef>

namespace optim {

struct HeadShape {
  std::size_t positions;     // T
  std::size_t head_width;    // D
  std::size_t qkv_stride;    // floats between the rows of q, k and v, and of their gradients
  std::size_t output_stride;
};

// Floats of one head's P: rows at a stride of padded(T).
std::size_t share_floats(std::size_t positions);
// Floats of working room for either direction.
std::size_t attention_room(std::size_t positions, std::size_t head_width);

// First row of each; all at qkv_stride.
template <typename Float>
struct HeadRows {
  Float *query, *key, *value;
};

// Sets `shares` (P, kept for backward) and `output`.
void attend(const HeadShape& shape, const HeadRows<const float>& rows, float* shares,
            float* output, float* room);

// Sets the gradients of q, k and v from that of the output.
void set_attention_gradient(const HeadShape& shape, const HeadRows<const float>& rows,
                            const float* shares, const float* output_gradient,
                            const HeadRows<float>& gradient, float* room);

}  // namespace optim

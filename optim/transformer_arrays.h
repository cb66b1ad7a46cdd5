// optim/transformer_arrays.h: what a transformer keeps between forward and backward, cut from one
// scratch buffer.
#pragma once

#include <cstddef>
#include <vector>

#include "optim/layer_norm.h"
#include "optim/scratch.h"
#include "optim/transformer_layout.h"

namespace optim {

// Of one block; R = sequences x T rows.
struct BlockArrays {
  NormalisedRows norm1, norm2;
  float* entering_qkv;    // (R x D) norm1's output
  float* qkv;             // (R x 3D)
  float* shares;          // per sequence and head (T x padded(T))
  float* attended;        // (R x D)
  float* entering_wide;   // (R x D) norm2's output
  float* slope;           // (R x 4D) before the GELU, then the GELU's slope there
  float* entering_narrow; // (R x 4D) after the GELU
};

// Whether each block has arrays of its own, or all of them share one set.
enum class Keep : bool { kLastBlock, kEveryBlock };

class TransformerArrays {
 public:
  // Allocates nothing if `buffer` has held as much before.
  TransformerArrays(const TransformerShape& shape, std::size_t sequences, Keep keep,
                    std::vector<float>& buffer);

  std::size_t rows() const { return rows_; }
  BlockArrays block(std::size_t layer) const;

  float* stream;           // (R x D) the residual stream
  NormalisedRows final;
  float* entering_logits;  // (R x D)
  float* logits;           // (R x V), then their gradient
  float* stream_gradient;  // (R x D)
  float* narrow_gradient;  // (R x D)
  float* wide_gradient;    // (R x 4D)
  float* room;             // for packed factors, and for attention

 private:
  float* take(std::size_t floats);

  const TransformerShape& shape_;
  std::size_t rows_, shares_, block_floats_;
  Keep keep_;
  float* next_;
  float* blocks_;
};

}  // namespace optim

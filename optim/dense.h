// optim/dense.h: the three matrix products of an affine layer.
//
// Written by hand because a learner's batch is a few examples: a general product first packs the
// weights, which costs as much as multiplying them by four rows. All matrices are row-major, dense,
// at any address. Every element is summed in one fixed order that depends neither on addresses nor
// on the number of rows nor on the vector width of the machine; so a batch cut in two gives the bits
// of the whole.
//
// Shapes: B examples, I inputs and O outputs of the layer.
#pragma once

#include <cstddef>

namespace optim {

struct LayerShape {
  std::size_t examples;  // B
  std::size_t inputs;    // I
  std::size_t outputs;   // O
};

// Adds inputs (B x I) times weights (I x O) to outputs (B x O); per element by ascending input, each
// a fused multiply-add onto what `outputs` holds.
void add_forward(const LayerShape& shape, const float* inputs, const float* weights,
                 float* outputs);

// Sets input_gradient (B x I) to output_gradient (B x O) times the transpose of weights (I x O). Per
// element eight partial sums over outputs 0, 8, 16... to 7, 15, 23..., folded pairwise, then the
// rest that does not fill eight, in order.
void set_input_gradient(const LayerShape& shape, const float* output_gradient,
                        const float* weights, float* input_gradient);

// Adds the transpose of inputs (B x I) times output_gradient (B x O) to weight_gradient (I x O); per
// element by ascending example.
void add_weight_gradient(const LayerShape& shape, const float* inputs,
                         const float* output_gradient, float* weight_gradient);

}  // namespace optim

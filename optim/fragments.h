// optim/fragments.h: cuts a model into P disjoint fragments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "optim/model.h"

namespace optim {

// Whole rows of one tensor.
struct Piece {
  std::size_t tensor;     // index into Model::tensors()
  std::size_t first_row, row_count;
  std::size_t offset, size;  // of its floats in the flat block
};

struct Fragment {
  std::vector<Piece> pieces;  // ascending by offset
  std::size_t size = 0;       // floats
};

// Balanced tensor fragments: sorts tensors by size, descending, and puts each into the fragment that
// is smallest so far (ties: lower index). Returns the fragment of each tensor. With at least
// `fragment_count` tensors no fragment is empty; the largest is at most 4/3 of the optimum (Graham).
// Requires: fragment_count > 0 and positive sizes; else std::invalid_argument.
// Source: Decoupled DiLoCo, arXiv:2604.21428, Appendix C; Graham 1969 for the bound.
std::vector<std::size_t> pack_balanced(const std::vector<std::int64_t>& tensor_sizes,
                                       std::size_t fragment_count);

// The proxy's partition: by tensors; while there are fewer than P pieces, the tensor with the
// largest piece is cut into one more (all its pieces equal to within a row); then packed as above.
// Errors: std::invalid_argument when P is 0 or exceeds the model's rows.
std::vector<Fragment> partition(const Model& model, std::size_t fragment_count);
std::size_t row_count(const Model& model);

// The tensor sizes (parameters) of a nominal decoder-only transformer: embedding vocabulary x width,
// and per layer attention 4 width^2 (as four tensors) and two feed-forward tensors that share out
// what is left of `parameters`. Empty when the list cannot add up (then equal parts are used, and
// the result says so).
std::vector<std::int64_t> nominal_tensors(std::int64_t parameters, std::int64_t layers,
                                          std::int64_t width, std::int64_t vocabulary);

}  // namespace optim

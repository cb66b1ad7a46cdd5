// optim/fragments.cpp: greedy packing, and the proxy's partition by rows; see fragments.h.
#include "optim/fragments.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace optim {
namespace {

void check_count(std::size_t fragment_count) {
  if (fragment_count == 0) throw std::invalid_argument("fragments must be at least 1; got 0");
}

std::size_t largest_rows(const Tensor& tensor, std::size_t parts) {
  return (tensor.rows + parts - 1) / parts;
}

// Into how many pieces each tensor is cut.
std::vector<std::size_t> count_parts(const std::vector<Tensor>& tensors, std::size_t wanted) {
  std::vector<std::size_t> parts(tensors.size(), 1);
  for (std::size_t have = tensors.size(); have < wanted; ++have) {
    std::size_t chosen = tensors.size(), chosen_size = 0;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const std::size_t size = largest_rows(tensors[i], parts[i]) * tensors[i].cols;
      if (parts[i] < tensors[i].rows && size > chosen_size) {
        chosen = i;
        chosen_size = size;
      }
    }
    ++parts[chosen];
  }
  return parts;
}

// The rows of `tensor` in `parts` pieces, the longer ones first.
void append_pieces(const Tensor& tensor, std::size_t index, std::size_t parts,
                   std::vector<Piece>& pieces) {
  std::size_t first_row = 0;
  for (std::size_t part = 0; part < parts; ++part) {
    const std::size_t rows = tensor.rows / parts + (part < tensor.rows % parts ? 1 : 0);
    pieces.push_back({index, first_row, rows, tensor.offset + first_row * tensor.cols,
                      rows * tensor.cols});
    first_row += rows;
  }
}

}  // namespace

std::vector<std::size_t> pack_balanced(const std::vector<std::int64_t>& tensor_sizes,
                                       std::size_t fragment_count) {
  check_count(fragment_count);
  for (std::size_t i = 0; i < tensor_sizes.size(); ++i) {
    if (tensor_sizes[i] > 0) continue;
    throw std::invalid_argument(
        fmt::format("size of tensor {} must be positive; got {}", i, tensor_sizes[i]));
  }
  std::vector<std::size_t> descending(tensor_sizes.size());
  std::iota(descending.begin(), descending.end(), std::size_t{0});
  std::ranges::stable_sort(descending, [&](std::size_t a, std::size_t b) {
    return tensor_sizes[a] > tensor_sizes[b];
  });
  std::vector<std::int64_t> filled(fragment_count, 0);
  std::vector<std::size_t> fragment_of(tensor_sizes.size());
  for (const std::size_t tensor : descending) {
    const auto smallest = std::ranges::min_element(filled);  // the first of equals
    *smallest += tensor_sizes[tensor];
    fragment_of[tensor] = static_cast<std::size_t>(smallest - filled.begin());
  }
  return fragment_of;
}

std::vector<Fragment> partition(const Model& model, std::size_t fragment_count) {
  check_count(fragment_count);
  if (fragment_count > row_count(model)) {
    throw std::invalid_argument(
        fmt::format("fragments must not exceed the rows of the proxy model ({}); got {}",
                    row_count(model), fragment_count));
  }
  const std::vector<Tensor>& tensors = model.tensors();
  const std::vector<std::size_t> parts = count_parts(tensors, fragment_count);
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < tensors.size(); ++i) append_pieces(tensors[i], i, parts[i], pieces);
  std::vector<std::int64_t> sizes;
  for (const Piece& piece : pieces) sizes.push_back(static_cast<std::int64_t>(piece.size));
  const std::vector<std::size_t> fragment_of = pack_balanced(sizes, fragment_count);
  std::vector<Fragment> fragments(fragment_count);
  for (std::size_t i = 0; i < pieces.size(); ++i) {  // tensors lie in ascending order
    fragments[fragment_of[i]].pieces.push_back(pieces[i]);
    fragments[fragment_of[i]].size += pieces[i].size;
  }
  return fragments;
}

std::size_t row_count(const Model& model) {
  std::size_t rows = 0;
  for (const Tensor& tensor : model.tensors()) rows += tensor.rows;
  return rows;
}

std::vector<std::int64_t> nominal_tensors(std::int64_t parameters, std::int64_t layers,
                                          std::int64_t width, std::int64_t vocabulary) {
  // The bound keeps every product below in 64 bits.
  constexpr std::int64_t kMostSide = 1'000'000'000;
  for (const std::int64_t side : {layers, width, vocabulary}) {
    if (side < 1 || side > kMostSide) return {};
  }
  const std::int64_t embedding = vocabulary * width, square = width * width;
  if (embedding >= parameters || square > (parameters - embedding) / (4 * layers)) return {};
  const std::int64_t rest = parameters - embedding - 4 * layers * square;
  const std::int64_t feed_forwards = 2 * layers;
  if (rest < feed_forwards) return {};
  std::vector<std::int64_t> tensors = {embedding};
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    tensors.insert(tensors.end(), 4, square);
    for (const std::int64_t index : {2 * layer, 2 * layer + 1}) {
      tensors.push_back(rest / feed_forwards + (index < rest % feed_forwards ? 1 : 0));
    }
  }
  return tensors;
}

}  // namespace optim

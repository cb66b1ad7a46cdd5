// optim/merge.cpp: plain averaging and RDA over blocks of a fragment; see merge.h for the formulas.
#include "optim/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "optim/check_shape.h"

namespace optim {
namespace {

// A mean of unit vectors shorter than this is rounding error, not a direction.
constexpr double kVanishingDirection = 1e-12;

// Floats [first, first + count) of the packed fragment.
struct Range {
  std::size_t first, count;
};

// What every block of one merge shares.
struct Inputs {
  std::span<const float> anchor;
  std::vector<const Contribution*> contributions;  // in canonical order
  double total_weight;
};

// Weights first, then the bits of the values: an order that only depends on what is merged.
bool comes_before(const Contribution* a, const Contribution* b) {
  if (a->weight != b->weight) return a->weight < b->weight;
  return std::memcmp(a->values.data(), b->values.data(), a->values.size_bytes()) < 0;
}

Inputs check(const Fragment& fragment, std::span<const float> anchor,
             std::span<const Contribution> contributions, std::span<const double> result) {
  check_size("anchor", anchor.size(), fragment.size);
  check_size("result", result.size(), fragment.size);
  if (contributions.empty()) throw std::invalid_argument("a merge needs at least one contribution");
  Inputs inputs{anchor, {}, 0.0};
  for (std::size_t i = 0; i < contributions.size(); ++i) {
    const Contribution& contribution = contributions[i];
    check_size(fmt::format("contribution {}", i), contribution.values.size(), fragment.size);
    if (!(contribution.weight > 0.0) || !std::isfinite(contribution.weight)) {
      throw std::invalid_argument(fmt::format(
          "weight of contribution {} must be positive and finite; got {}", i, contribution.weight));
    }
    inputs.contributions.push_back(&contribution);
  }
  std::ranges::sort(inputs.contributions, comes_before);
  for (const Contribution* contribution : inputs.contributions) {
    inputs.total_weight += contribution->weight;
  }
  return inputs;
}

// result += factor * (anchor - values), over one block.
void add_scaled(double factor, const Inputs& inputs, const Contribution& contribution,
                std::span<const Range> block, std::span<double> result) {
  for (const Range& range : block) {
    for (std::size_t i = range.first; i < range.first + range.count; ++i) {
      result[i] += factor * (double{inputs.anchor[i]} - double{contribution.values[i]});
    }
  }
}

double delta_norm(const Inputs& inputs, const Contribution& contribution,
                  std::span<const Range> block) {
  double sum = 0.0;
  for (const Range& range : block) {
    for (std::size_t i = range.first; i < range.first + range.count; ++i) {
      const double delta = double{inputs.anchor[i]} - double{contribution.values[i]};
      sum += delta * delta;
    }
  }
  return std::sqrt(sum);
}

double norm(std::span<const Range> block, std::span<const double> values) {
  double sum = 0.0;
  for (const Range& range : block) {
    for (std::size_t i = range.first; i < range.first + range.count; ++i) {
      sum += values[i] * values[i];
    }
  }
  return std::sqrt(sum);
}

void set_zero(std::span<const Range> block, std::span<double> result) {
  for (const Range& range : block) std::ranges::fill(result.subspan(range.first, range.count), 0.0);
}

void average(const Inputs& inputs, std::span<const Range> block, std::span<double> result) {
  set_zero(block, result);
  for (const Contribution* contribution : inputs.contributions) {
    add_scaled(contribution->weight / inputs.total_weight, inputs, *contribution, block, result);
  }
}

void radial_directional(const Inputs& inputs, std::span<const Range> block,
                        std::span<double> result) {
  set_zero(block, result);
  double radius = 0.0;
  for (const Contribution* contribution : inputs.contributions) {
    const double share = contribution->weight / inputs.total_weight;
    const double length = delta_norm(inputs, *contribution, block);
    if (length == 0.0) continue;  // phi(0) = 0, and it adds nothing to the radius
    radius += share * length;
    add_scaled(share / length, inputs, *contribution, block, result);
  }
  const double direction_norm = norm(block, result);
  if (direction_norm <= kVanishingDirection) return average(inputs, block, result);
  for (const Range& range : block) {
    for (std::size_t i = range.first; i < range.first + range.count; ++i) {
      result[i] *= radius / direction_norm;
    }
  }
}

}  // namespace

void merge(const MergeOptions& options, const std::vector<Tensor>& tensors, const Fragment& fragment,
           std::span<const float> anchor, std::span<const Contribution> contributions,
           std::span<double> result) {
  const Inputs inputs = check(fragment, anchor, contributions, result);
  std::vector<Range> whole;  // every piece that is no embedding
  std::size_t first = 0;
  for (const Piece& piece : fragment.pieces) {
    const Range range{first, piece.size};
    first += piece.size;
    if (options.kind == MergeKind::kAverage || tensors.at(piece.tensor).embedding) {
      average(inputs, {&range, 1}, result);
    } else if (options.granularity == RdaGranularity::kTensor) {
      radial_directional(inputs, {&range, 1}, result);
    } else if (options.granularity == RdaGranularity::kRow) {
      const std::size_t cols = tensors.at(piece.tensor).cols;
      for (std::size_t row = 0; row < piece.row_count; ++row) {
        const Range one{range.first + row * cols, cols};
        radial_directional(inputs, {&one, 1}, result);
      }
    } else {
      whole.push_back(range);
    }
  }
  check_size("the pieces of the fragment", first, fragment.size);
  if (!whole.empty()) radial_directional(inputs, whole, result);
}

double token_weight(double counted_tokens, double counted_steps) {
  if (counted_tokens == 0.0 || counted_steps == 0.0) return 0.0;
  return counted_tokens * (counted_tokens / counted_steps);
}

}  // namespace optim

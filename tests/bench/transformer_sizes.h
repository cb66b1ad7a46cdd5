// tests/bench/transformer_sizes.h: the sizes of proxy transformer that are timed, and their batches.
#pragma once

#include <cstddef>
#include <cstdint>

#include "optim/batch.h"
#include "optim/model.h"
#include "sim/base/random.h"

namespace optim::bench {

struct Size {
  const char* name;
  std::size_t vocabulary, context, width, heads, layers, examples;

  std::size_t tokens() const { return examples * context; }
  ModelOptions options() const {
    return {ModelKind::kTransformer, 0, vocabulary, 0, layers, 0.0, width, heads, context};
  }
};

// The rows of the speed table (design section 8): parameters, and tokens of a step.
constexpr Size kSizes[] = {
    {"8k_64", 64, 16, 16, 2, 2, 4},
    {"90k_128", 64, 32, 48, 3, 3, 4},
    {"90k_512", 64, 32, 48, 3, 3, 16},
    {"1M_512", 64, 64, 128, 4, 5, 8},
};

// Uniform symbols: for time it does not matter which. Each target is the token after.
inline Batch random_batch(const Size& size, std::uint64_t step) {
  sim::base::Stream stream(step, "bench/tokens");
  Batch batch;
  batch.examples = size.examples;
  for (std::size_t i = 0; i < size.examples; ++i) {
    auto symbol = static_cast<std::int32_t>(stream.next_below(size.vocabulary));
    for (std::size_t t = 0; t < size.context; ++t) {
      batch.tokens.push_back(symbol);
      symbol = static_cast<std::int32_t>(stream.next_below(size.vocabulary));
      batch.targets.push_back(symbol);
    }
  }
  return batch;
}

}  // namespace optim::bench

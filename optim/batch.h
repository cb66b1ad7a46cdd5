// optim/batch.h: some examples, as plain arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace optim {

struct Batch {
  std::size_t examples = 0;
  std::vector<float> inputs;            // (examples x features), row-major
  std::vector<std::int32_t> targets;    // (examples): class, empty for the quadratic
};

}  // namespace optim

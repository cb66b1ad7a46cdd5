// optim/batch.h: some examples, as plain arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace optim {

// Two forms (ExampleForm in task.h). Features: `inputs` and one target per example. Tokens: `tokens`
// and one target per position, the symbol that follows it; `inputs` stays empty.
struct Batch {
  std::size_t examples = 0;
  std::vector<float> inputs;            // (examples x features), row-major
  std::vector<std::int32_t> targets;    // (examples) class, or (examples x context); empty for the quadratic
  std::vector<std::int32_t> tokens = {};  // (examples x context), row-major
};

}  // namespace optim

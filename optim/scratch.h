// optim/scratch.h: cuts one reusable buffer into working arrays, each on its own cache lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "optim/aligned_block.h"

namespace optim {

class Scratch {
 public:
  // Room for `floats` (a sum of padded sizes) in `buffer`, which grows but never shrinks: a second
  // call of the same size allocates nothing. Earlier contents are lost.
  Scratch(std::vector<float>& buffer, std::size_t floats) {
    if (buffer.size() < floats + kFloatsPerLine) buffer.resize(floats + kFloatsPerLine);
    const auto address = reinterpret_cast<std::uintptr_t>(buffer.data());
    const std::size_t past = address % kBlockAlignment_bytes / sizeof(float);
    next_ = buffer.data() + (past == 0 ? 0 : kFloatsPerLine - past);
  }

  // The next `floats` of it, with whatever they hold.
  float* take(std::size_t floats) {
    float* const taken = next_;
    next_ += padded(floats);
    return taken;
  }

 private:
  float* next_;
};

}  // namespace optim

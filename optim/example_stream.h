// optim/example_stream.h: the random stream of one example, found by arithmetic.
//
// Each (step, slot) is a lane of one named stream, so an example never depends on which others were
// drawn, and no name is hashed per example.
#pragma once

#include <cstdint>

#include "sim/base/random.h"

namespace optim {

inline sim::base::Stream example_stream(const sim::base::Stream& named, std::uint32_t step,
                                        std::uint32_t slot) {
  return named.at((std::uint64_t{step} << 32) | slot, 0);
}

}  // namespace optim

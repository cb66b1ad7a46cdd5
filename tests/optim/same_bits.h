// tests/optim/same_bits.h: equality of floats and doubles bit by bit, so that -0 and NaN count.
#pragma once

#include <cstring>
#include <span>

namespace optim {

template <typename A, typename B>
bool same_bits(const A& a, const B& b) {
  const std::span left(a), right(b);
  return left.size() == right.size() &&
         (left.empty() || std::memcmp(left.data(), right.data(), left.size_bytes()) == 0);
}

}  // namespace optim

// sim/tape/trace_hash.h: 64 bits that two runs share exactly when their worlds did the same.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/tape/fact.h"

namespace sim::tape {

// Folds facts field by field, never padding bytes. A stretch of steps is folded as its single
// steps, each at its own end, through one sub-hash per learner, so that where a stretch was cut
// (and when it was told) does not show; the sub-hashes and the main hash are combined by value().
class TraceHash {
 public:
  void on(const Fact& fact);
  std::uint64_t value() const;

 private:
  std::uint64_t main_ = 0x9e3779b97f4a7c15ull;
  std::vector<std::uint64_t> steps_;  // one per learner
};

}  // namespace sim::tape

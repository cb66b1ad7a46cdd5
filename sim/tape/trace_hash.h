// sim/tape/trace_hash.h: 64 bits that two runs share exactly when their worlds did the same.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/tape/fact.h"

namespace sim::tape {

// Folds facts field by field, never padding bytes. A stretch of steps is folded as its single
// steps, each at its own end, through one sub-hash per learner, so that where a stretch was cut
// (and when it was told) does not show; the sub-hashes and the main hash are combined by value().
//
// A sub-hash is a polynomial over the prime 2^61 - 1: hash = hash * x + step, where `step` is a
// sum of the step's fields times fixed random coefficients. Inside a stretch `step` grows
// linearly, so a stretch of n steps costs O(log n) and gives what n single steps give.
class TraceHash {
 public:
  void on(const Fact& fact);
  std::uint64_t value() const;

 private:
  void fold(std::uint64_t word);
  void fold_steps(const StepsDone& steps);
  void fold_merge(const FragmentMerged& merge);
  void fold_transfer(const TransferDone& transfer);

  struct LearnerSteps {
    std::uint64_t hash = 1;  // below 2^61 - 1
    std::uint64_t count = 0;
  };

  std::uint64_t main_ = 0x9e3779b97f4a7c15ull;
  std::vector<LearnerSteps> steps_;  // one per learner
};

}  // namespace sim::tape

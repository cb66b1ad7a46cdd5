// sim/methods/host_copies.h: whose memory holds the state of a learner whose program has stopped.
//
// While a learner steps, each of its joined slices holds its whole state, in the chips and as a copy of
// the last finished step in the hosts' memory. A fault of chips or of a slice leaves the host; one of an
// island or a region takes it. So the state of a stopped learner lives as long as the host of any slice
// that was joined when it stopped; a slice that had failed before holds an old copy, which counts for
// nothing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/methods/job.h"

namespace sim::methods {

class HostCopies {
 public:
  explicit HostCopies(std::size_t learners) : holders_(learners) {}

  // The slices that are joined now hold the state.
  void hold(const Job& job) {
    std::vector<std::uint32_t>& holders = holders_[job.learner()];
    holders.clear();
    for (const std::uint32_t slice : job.shape().slices) {
      if (job.joined(slice)) holders.push_back(slice);
    }
  }
  // The hosts of these slices are gone. Returns whether one that holds the state is left.
  bool lose(const Job& job, std::span<const std::uint32_t> slices) {
    std::vector<std::uint32_t>& holders = holders_[job.learner()];
    std::erase_if(holders, [&](std::uint32_t slice) {
      return std::ranges::find(slices, slice) != slices.end();
    });
    return !holders.empty();
  }

 private:
  std::vector<std::vector<std::uint32_t>> holders_;  // of each learner
};

}  // namespace sim::methods

// sim/methods/host_copies.h: on whose hosts a learner's last state still stands.
//
// After each step the hosts of all joined slices hold a copy of the learner's state (arXiv:2604.21428,
// section 4, Fig. 4). The loss of a chip or slice leaves its host with what it held; the loss of an
// island or region takes the host too. So when a learner has no slice left, its state lives while any
// host lives whose slice had a part in the last finished step.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/tape/run_shape.h"

namespace sim::methods {

class HostCopies {
 public:
  explicit HostCopies(const tape::LearnerShape& learner)
      : slices_(learner.slices), last_step_(learner.slices.size(), kNothing) {}

  // A joined slice is lost; its host holds the state after so many steps of the learner's life.
  void leave(std::uint32_t slice, std::uint64_t total_steps) { at(slice) = total_steps; }
  void host_died(std::uint32_t slice) { at(slice) = kNothing; }
  // Some host holds the state after that many steps.
  bool any_holds(std::uint64_t total_steps) const;

 private:
  static constexpr std::uint64_t kNothing = UINT64_MAX;
  std::uint64_t& at(std::uint32_t slice);

  const std::vector<std::uint32_t>& slices_;
  std::vector<std::uint64_t> last_step_;
};

}  // namespace sim::methods

// sim/methods/state_copies.h: which slices of a job hold its state, and which hosts of slices that left.
//
// A joined slice holds the state after the job's last finished step, unless it was taken back without
// one. A slice that leaves the job leaves that state in its host's memory; the copy is stale after
// the job's next step and dies with the host.
#pragma once

#include <cstdint>
#include <vector>

namespace sim::methods {

class StateCopies {
 public:
  // All slices hold the initial state. Slices are named by their position in the job.
  explicit StateCopies(std::size_t slices) : copies_(slices, kLive) {}

  // The job's state is number `state`: the steps that it has done.
  bool holds(std::size_t slice, std::uint64_t state) const {
    return copies_[slice] == kLive || copies_[slice] == state;
  }

  // The slice leaves the job; `host_keeps`: its host's memory is a place to recover from.
  void leave(std::size_t slice, std::uint64_t state, bool host_keeps) {
    copies_[slice] = host_keeps && holds(slice, state) ? state : kNone;
  }
  void host_died(std::size_t slice) { copies_[slice] = kNone; }
  // A slice that holds the state takes part in the job again, or one that does not has received it.
  void go_live(std::size_t slice) { copies_[slice] = kLive; }
  void forget(std::size_t slice) { copies_[slice] = kNone; }

 private:
  static constexpr std::uint64_t kNone = UINT64_MAX, kLive = UINT64_MAX - 1;
  std::vector<std::uint64_t> copies_;  // number of the state, or one of these
};

}  // namespace sim::methods

// sim/readers/step_pace.cpp: see step_pace.h.
#include "sim/readers/step_pace.h"

#include <map>

namespace sim::readers {
namespace {

// The slowest computes for `compute`, another for a share of it. Rounded down: together with what it
// waits it is exactly that.
Nanoseconds share_of(Nanoseconds compute, Nanoseconds step_time, Nanoseconds slowest) {
  if (step_time == 0 || step_time >= slowest) return compute;
  return static_cast<Nanoseconds>(chip_time(compute, step_time) /
                                  static_cast<ChipNanoseconds>(slowest));
}

}  // namespace

Nanoseconds slowest_of(const std::vector<PaceGroup>& groups) {
  Nanoseconds slowest = 0;
  for (const PaceGroup& group : groups) slowest = std::max(slowest, group.step_time);
  return slowest;
}

void set_pace(std::vector<PaceGroup>& groups, Nanoseconds compute, Nanoseconds slowest,
              const std::vector<tape::MemberComputed>& told) {
  std::map<std::uint32_t, Nanoseconds> slowest_on;
  if (!told.empty()) {
    for (const PaceGroup& group : groups) {
      slowest_on[group.island] = std::max(slowest_on[group.island], group.step_time);
    }
  }
  for (PaceGroup& group : groups) {
    const auto mine =
        std::ranges::lower_bound(told, group.island, {}, &tape::MemberComputed::island);
    const bool is_told = mine != told.end() && mine->island == group.island;
    group.compute =
        is_told ? std::min(compute, share_of(mine->compute, group.step_time,
                                             slowest_on[group.island]))
                : share_of(compute, group.step_time, slowest);
  }
}

Nanoseconds mean_busy(const StepPiece& piece, Nanoseconds from, Nanoseconds to) {
  ChipNanoseconds sum = 0;
  std::int64_t chips = 0;
  for (const PaceGroup& group : piece.groups) {
    sum += chip_time(group.chips, group.compute);
    chips += group.chips;
  }
  if (chips == 0) return to - from;
  const auto mean = static_cast<Nanoseconds>(sum / static_cast<ChipNanoseconds>(chips));
  return to - from - piece.computed(from, to, piece.compute) + piece.computed(from, to, mean);
}

ChipNanoseconds slice_busy(const StepPiece& piece, Nanoseconds from, Nanoseconds to) {
  const StepShares shares =
      shares_of(piece, from, to, [](const PaceGroup& group) { return group.slices; });
  return shares.compute + shares.exposed;
}

}  // namespace sim::readers

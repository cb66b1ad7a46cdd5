// sim/readers/step_piece.h: a piece of a stretch of steps during which membership stayed the same.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/readers/chip_time.h"

namespace sim::readers {

// What slices of one pace bring into a step.
struct PaceGroup {
  std::uint32_t island = 0;   // where islands draw their own step times; else 0
  Nanoseconds step_time = 0;  // of the slice's own tokens, without noise
  std::int64_t chips = 0;
  std::int64_t slices = 0;
  std::int64_t milliwatts = 0;  // of these chips at full work
  Nanoseconds compute = 0;      // in each step of the piece; at most the step's
  bool operator==(const PaceGroup&) const = default;
};

// The time [from, to) out of the stretch whose step number first_step + i runs from
// start + i * period on. In each step computation comes first: of the slowest for `compute`, of others
// for their own time, then they wait; exposed communication is last, for all.
struct StepPiece {
  Nanoseconds from, to;
  Nanoseconds start, period, compute;
  std::uint32_t first_step;
  std::vector<PaceGroup> groups;  // stepping in this piece

  // Time between the start of the stretch and `date` in which who computes `own` in each step does;
  // exact.
  Nanoseconds computed_until(Nanoseconds date, Nanoseconds own) const {
    const Nanoseconds run = date - start;
    return run / period * own + std::min(run % period, own);
  }
  Nanoseconds computed(Nanoseconds begin, Nanoseconds end, Nanoseconds own) const {
    return computed_until(end, own) - computed_until(begin, own);
  }
  // When the steps after number `step` begin; may lie outside the piece.
  Nanoseconds end_of(std::uint32_t step) const {
    return start + (std::int64_t{step} + 1 - std::int64_t{first_step}) * period;
  }
  // Whether `next` goes on where this ends, step by step alike.
  bool continues_in(const StepPiece& next) const {
    return to == next.from && period == next.period && compute == next.compute &&
           groups == next.groups &&
           start + (std::int64_t{next.first_step} - std::int64_t{first_step}) * period == next.start;
  }
};

// Where the time [begin, end) of a piece goes, in units of `Unit` (chips, milliwatts) times nanoseconds.
struct StepShares {
  ChipNanoseconds compute = 0, waiting = 0, exposed = 0;
};
template <class UnitOf>
StepShares shares_of(const StepPiece& piece, Nanoseconds begin, Nanoseconds end, UnitOf unit_of) {
  StepShares shares;
  const Nanoseconds slowest = piece.computed(begin, end, piece.compute);
  for (const PaceGroup& group : piece.groups) {
    const Nanoseconds own = piece.computed(begin, end, group.compute);
    shares.compute += chip_time(unit_of(group), own);
    shares.waiting += chip_time(unit_of(group), slowest - own);
    shares.exposed += chip_time(unit_of(group), end - begin - slowest);
  }
  return shares;
}
inline StepShares chip_shares(const StepPiece& piece, Nanoseconds begin, Nanoseconds end) {
  return shares_of(piece, begin, end, [](const PaceGroup& group) { return group.chips; });
}
inline StepShares milliwatt_shares(const StepPiece& piece, Nanoseconds begin, Nanoseconds end) {
  return shares_of(piece, begin, end, [](const PaceGroup& group) { return group.milliwatts; });
}

}  // namespace sim::readers

// sim/readers/step_pace.h: how long each slice of a learner computes inside a step, and so how long it waits.
#pragma once

#include <vector>

#include "sim/readers/step_piece.h"
#include "sim/tape/fact.h"

namespace sim::readers {

// The longest step time, without noise.
Nanoseconds slowest_of(const std::vector<PaceGroup>& groups);

// Fills in how long each group computes in a step whose slowest member computes for `compute`: in proportion
// to its own step time beside `slowest`, or what was told of its island, ascending by island.
void set_pace(std::vector<PaceGroup>& groups, Nanoseconds compute, Nanoseconds slowest,
              const std::vector<tape::MemberComputed>& told);

// Mean over the chips of a piece of the time in which they did not wait for the slowest; whole
// nanoseconds for each step, so that it does not matter where a stretch is cut.
Nanoseconds mean_busy(const StepPiece& piece, Nanoseconds from, Nanoseconds to);

// Slices times the time in which they did not wait.
ChipNanoseconds slice_busy(const StepPiece& piece, Nanoseconds from, Nanoseconds to);

}  // namespace sim::readers

// sim/readers/step_piece.h: a piece of a stretch of steps during which membership stayed the same.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/base/time.h"

namespace sim::readers {

using base::Nanoseconds;

// The time [from, to) out of the stretch whose step number first_step + i runs from
// start + i * period on. In each step computation comes first, exposed communication last.
struct StepPiece {
  Nanoseconds from, to;
  Nanoseconds start, period, compute;
  std::uint32_t first_step;
  std::int64_t chips;   // stepping in this piece
  std::int64_t slices;  // likewise
  std::int64_t milliwatts = 0;  // of these chips at full work

  // Computation between the start of the stretch and `date`, exact.
  Nanoseconds computed_until(Nanoseconds date) const {
    const Nanoseconds run = date - start;
    return run / period * compute + std::min(run % period, compute);
  }
  Nanoseconds computed(Nanoseconds begin, Nanoseconds end) const {
    return computed_until(end) - computed_until(begin);
  }
  // When the steps after number `step` begin; may lie outside the piece.
  Nanoseconds end_of(std::uint32_t step) const {
    return start + (std::int64_t{step} + 1 - std::int64_t{first_step}) * period;
  }
  // Whether `next` goes on where this ends, step by step alike.
  bool continues_in(const StepPiece& next) const {
    return to == next.from && period == next.period && compute == next.compute &&
           chips == next.chips && slices == next.slices && milliwatts == next.milliwatts &&
           start + (std::int64_t{next.first_step} - std::int64_t{first_step}) * period == next.start;
  }
};

}  // namespace sim::readers

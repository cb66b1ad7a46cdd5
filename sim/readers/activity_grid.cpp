// sim/readers/activity_grid.cpp: spreads intervals over the bins, exactly.
#include "sim/readers/activity_grid.h"

namespace sim::readers {

void ActivityGrid::add(Bucket bucket, Nanoseconds from, Nanoseconds to, std::int64_t chips) {
  grid_.spread(from, to, [&](BucketTimes& cell, Nanoseconds begin, Nanoseconds end) {
    cell[bucket] += chip_time(chips, end - begin);
  });
}

void ActivityGrid::add_steps(const StepPiece& piece) {
  grid_.spread(piece.from, piece.to, [&](BucketTimes& cell, Nanoseconds begin, Nanoseconds end) {
    const StepShares shares = chip_shares(piece, begin, end);
    cell[Bucket::kCompute] += shares.compute;
    cell[Bucket::kWaitingForSlowest] += shares.waiting;
    cell[Bucket::kExposedCommunication] += shares.exposed;
  });
}

void ActivityGrid::undo_steps(const StepPiece& piece, Nanoseconds from) {
  grid_.spread(from, piece.to, [&](BucketTimes& cell, Nanoseconds begin, Nanoseconds end) {
    const StepShares shares = chip_shares(piece, begin, end);
    cell[Bucket::kCompute] -= shares.compute;
    cell[Bucket::kWaitingForSlowest] -= shares.waiting;
    cell[Bucket::kExposedCommunication] -= shares.exposed;
    cell[Bucket::kRolledBack] += shares.compute + shares.waiting + shares.exposed;
  });
}

}  // namespace sim::readers

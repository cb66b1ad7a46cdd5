// sim/readers/activity_grid.h: chip-nanoseconds per bucket and bin of time, for activity.csv.
#pragma once

#include <array>

#include "sim/readers/bucket.h"
#include "sim/readers/chip_time.h"
#include "sim/readers/step_piece.h"
#include "sim/readers/time_grid.h"

namespace sim::readers {

struct BucketTimes {
  std::array<ChipNanoseconds, kBucketCount> time{};
  ChipNanoseconds& operator[](Bucket bucket) { return time[static_cast<std::size_t>(bucket)]; }
  ChipNanoseconds operator[](Bucket bucket) const { return time[static_cast<std::size_t>(bucket)]; }
  BucketTimes& operator+=(const BucketTimes& other) {
    for (std::size_t i = 0; i < time.size(); ++i) time[i] += other.time[i];
    return *this;
  }
  ChipNanoseconds sum() const {
    ChipNanoseconds total = 0;
    for (const ChipNanoseconds part : time) total += part;
    return total;
  }
};

// At most 1,000 bins of at least one second, doubled in width when full.
class ActivityGrid {
 public:
  ActivityGrid() : grid_(base::kSecond) {}

  void add(Bucket bucket, Nanoseconds from, Nanoseconds to, std::int64_t chips);
  void add_steps(const StepPiece& piece);
  // Moves the time of [from, piece.to), added before, to kRolledBack.
  void undo_steps(const StepPiece& piece, Nanoseconds from);

  const TimeGrid<BucketTimes>& grid() const { return grid_; }

 private:
  TimeGrid<BucketTimes> grid_;
};

}  // namespace sim::readers

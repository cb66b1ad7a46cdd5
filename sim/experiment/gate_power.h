// sim/experiment/gate_power.h: what a curve can guard: the loss that it would show, and the seeds for that.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "sim/experiment/gate_curve.h"

namespace sim::experiment {

// A loss that a baseline must be able to show, and the smallest that fails a check by default.
constexpr double kGuardedLoss = 0.015, kSmallestLoss = 0.005;
// How often a curve on which nothing changed may fail.
constexpr double kFamilyAlarm = 0.01;
constexpr std::size_t kSeedsMin = 5;  // assumed: of fewer the spread is not known

// The test's level at one of so many cells.
double tail_of(std::size_t cells);

// The spread to reckon with: that of the values; of fewer than 10 what the true one stays below with 80 %,
// so that no few seeds pass because they happen to lie together (both numbers assumed).
double reckoned_deviation(std::span<const double> values);

// The loss that the cell where it is hardest lets one find in 95 % of cases, against a second sample of as
// many values as the cell has, or of `after` if these are fewer. Requires: two values a cell, and after >= 2.
double detectable_loss(const Curve& curve, std::optional<std::size_t> after = std::nullopt);

// Seeds that show kGuardedLoss in every cell; at least kSeedsMin. Requires: two values a cell.
std::size_t seeds_needed(const Curve& curve);

// Of the cells.
struct SeedCounts {
  std::size_t least = 0, most = 0;
};
SeedCounts seed_counts(const Curve& curve);

}  // namespace sim::experiment

// sim/report/loss_csv.h: the loss of the global model over time and over tokens.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <span>

#include "sim/base/time.h"

namespace sim::report {

struct LossPoint {
  base::Nanoseconds at;
  std::uint64_t tokens;  // nominal, consumed
  double loss;           // nats per example or token, as the task has it
};

// Columns: time_s (nine decimals), tokens, loss (shortest text that reads back to the same value).
// Rows: the points in their order; above 10,000 every second, fourth, ... one, and always the last.
void write_loss_csv(std::span<const LossPoint> points, std::ostream& out);

}  // namespace sim::report

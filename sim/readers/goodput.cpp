// sim/readers/goodput.cpp: formulas only; goodput.h has them in symbols.
#include "sim/readers/goodput.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace sim::readers {
namespace {

constexpr double kLastDigits = 1e-12;  // what sums of doubles may be off by

// A part that exceeds its whole by no more than `excess` is the whole.
double share(double part, double whole, double excess = kLastDigits) {
  return part > whole && part <= whole * (1 + excess) ? 1.0 : part / whole;
}

// By how much more than natively a fleet may have processed: steps last whole nanoseconds, and where their
// times are drawn around a mean, they may by chance all be short.
double token_excess(const tape::RunShape& shape, bool noisy_steps) {
  if (noisy_steps) return std::numeric_limits<double>::infinity();
  Nanoseconds shortest = shape.nominal_step;
  for (const tape::SliceShape& slice : shape.slices) {
    if (slice.step_time > 0) shortest = std::min(shortest, slice.step_time);
  }
  return kLastDigits + (shortest > 0 ? 1.0 / static_cast<double>(shortest) : 0.0);
}

void check_share(const char* name, double value) {
  if (value >= 0 && value <= 1) return;
  throw std::logic_error(fmt::format("{} is {}, outside [0, 1]", name, value));
}

}  // namespace

Goodput goodput(const tape::RunShape& shape, const ActivityTotals& totals,
                std::uint64_t merged_tokens, bool noisy_steps) {
  Goodput result;
  if (totals.duration <= 0) return result;
  const auto duration_ns = static_cast<double>(totals.duration);
  const double fleet = static_cast<double>(chip_time(shape.chips, totals.duration));
  const auto compute = static_cast<double>(totals.buckets[Bucket::kCompute]);
  const auto exposed = static_cast<double>(totals.buckets[Bucket::kExposedCommunication] +
                                           totals.buckets[Bucket::kWaitingForSlowest] +
                                           totals.buckets[Bucket::kWaitingForMerge]);
  result.time = static_cast<double>(totals.useful_chip_time) / fleet;
  result.stepping = share(totals.useful_stepping_chip_time, fleet);
  result.chip = compute / fleet;
  if (shape.native_tokens_per_s > 0) {
    const double natively = shape.native_tokens_per_s * base::to_seconds(totals.duration);
    result.token =
        share(static_cast<double>(merged_tokens), natively, token_excess(shape, noisy_steps));
  }
  result.uptime = static_cast<double>(totals.uptime) / duration_ns;
  if (compute + exposed > 0) result.compute_utilization = compute / (compute + exposed);
  return result;
}

void check_range(const Goodput& goodput) {
  check_share("goodput.time", goodput.time);
  check_share("goodput.stepping", goodput.stepping);
  check_share("goodput.chip", goodput.chip);
  check_share("goodput.token", goodput.token);
  check_share("uptime", goodput.uptime);
  check_share("compute_utilization", goodput.compute_utilization);
}

}  // namespace sim::readers

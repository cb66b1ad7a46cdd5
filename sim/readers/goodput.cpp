// sim/readers/goodput.cpp: formulas only; goodput.h has them in symbols.
#include "sim/readers/goodput.h"

namespace sim::readers {

Goodput goodput(const tape::RunShape& shape, const ActivityTotals& totals,
                std::uint64_t merged_tokens) {
  Goodput result;
  if (totals.duration <= 0) return result;
  const auto duration_ns = static_cast<double>(totals.duration);
  const double fleet = static_cast<double>(chip_time(shape.chips, totals.duration));
  const auto compute = static_cast<double>(totals.buckets[Bucket::kCompute]);
  const auto exposed = static_cast<double>(totals.buckets[Bucket::kExposedCommunication] +
                                           totals.buckets[Bucket::kWaitingForSlowest] +
                                           totals.buckets[Bucket::kWaitingForMerge]);
  result.time = static_cast<double>(totals.useful_chip_time) / fleet;
  result.stepping = totals.useful_stepping_chip_time / fleet;
  result.chip = compute / fleet;
  if (shape.native_tokens_per_s > 0) {
    result.token = static_cast<double>(merged_tokens) /
                   (shape.native_tokens_per_s * base::to_seconds(totals.duration));
  }
  result.uptime = static_cast<double>(totals.uptime) / duration_ns;
  if (compute + exposed > 0) result.compute_utilization = compute / (compute + exposed);
  return result;
}

}  // namespace sim::readers

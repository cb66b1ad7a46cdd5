// sim/experiment/gate_power.cpp: see gate_power.h.
#include "sim/experiment/gate_power.h"

#include <algorithm>
#include <map>

#include "sim/experiment/gate_statistics.h"
#include "sim/experiment/statistics.h"

namespace sim::experiment {

double tail_of(std::size_t cells) { return kFamilyAlarm / static_cast<double>(cells); }

double reckoned_deviation(std::span<const double> values) {
  constexpr std::size_t kFew = 10;
  constexpr double kConfidence = 0.8;
  const double deviation = standard_deviation(values);
  return values.size() < kFew ? deviation_bound(deviation, values.size(), kConfidence) : deviation;
}

double detectable_loss(const Curve& curve, std::optional<std::size_t> after) {
  std::map<std::size_t, double> widest;  // by the cell's size
  for (const CurveCell& cell : curve.cells) {
    double& deviation = widest[cell.values.size()];
    deviation = std::max(deviation, reckoned_deviation(cell.values));
  }
  double loss = 0;
  for (const auto& [count, deviation] : widest) {
    loss = std::max(loss, detectable_loss(deviation, {count, std::min(count, after.value_or(count))}, tail_of(curve.cells.size()),
                                          kSmallestLoss));
  }
  return loss;
}

std::size_t seeds_needed(const Curve& curve) {
  double widest = 0;
  for (const CurveCell& cell : curve.cells) widest = std::max(widest, reckoned_deviation(cell.values));
  return std::max(kSeedsMin, counts_needed(widest, tail_of(curve.cells.size()), kSmallestLoss, kGuardedLoss));
}

SeedCounts seed_counts(const Curve& curve) {
  SeedCounts counts{curve.cells.front().seeds.size(), 0};
  for (const CurveCell& cell : curve.cells) {
    counts.least = std::min(counts.least, cell.seeds.size());
    counts.most = std::max(counts.most, cell.seeds.size());
  }
  return counts;
}

}  // namespace sim::experiment

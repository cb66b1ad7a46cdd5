// sim/readers/step_times.cpp: see step_times.h.
#include "sim/readers/step_times.h"

#include <algorithm>
#include <bit>

namespace sim::readers {
namespace {

constexpr int kLeadingBits = 12;

std::uint64_t key_of(Nanoseconds period) {
  const auto value = static_cast<std::uint64_t>(period);
  const int width = 64 - std::countl_zero(value);
  if (width <= kLeadingBits) return value;
  return value >> (width - kLeadingBits) << (width - kLeadingBits);
}

}  // namespace

void StepTimes::on(const tape::Fact& fact) {
  if (fact.kind != tape::Kind::kStepsDone) return;
  const Nanoseconds period = fact.steps_done.period;
  const std::uint64_t key = key_of(period);
  if (key != last_key_) {
    last_key_ = key;
    last_cell_ = &cells_[key];
  }
  Cell& cell = *last_cell_;
  cell.shortest = cell.count == 0 ? period : std::min(cell.shortest, period);
  cell.longest = std::max(cell.longest, period);
  cell.count += fact.steps_done.count;
}

Nanoseconds StepTimes::median() const {
  std::uint64_t total = 0;
  for (const auto& [key, cell] : cells_) total += cell.count;
  std::uint64_t seen = 0;
  for (const auto& [key, cell] : cells_) {
    seen += cell.count;
    if (2 * seen >= total && total > 0) return (cell.shortest + cell.longest) / 2;
  }
  return 0;
}

}  // namespace sim::readers

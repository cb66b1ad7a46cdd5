// sim/readers/step_times.h: the median time of a step, over all steps of all learners.
//
// Periods are counted in cells of equal leading bits, 1/2048 wide relative to their value, so that memory
// does not grow with the number of distinct periods. A cell that saw one period only is exact.
#pragma once

#include <cstdint>
#include <map>

#include "sim/tape/reader.h"

namespace sim::readers {

using base::Nanoseconds;

class StepTimes : public tape::Reader {
 public:
  StepTimes() = default;
  StepTimes(const StepTimes&) = delete;
  StepTimes& operator=(const StepTimes&) = delete;

  void on(const tape::Fact& fact) override;

  // The lower median; exact, or within 0.05 % where nearly equal periods fall into one cell.
  // 0 without steps. Steps that were rolled back count, too.
  Nanoseconds median() const;

 private:
  struct Cell {
    std::uint64_t count = 0;
    Nanoseconds shortest = 0, longest = 0;
  };
  std::map<std::uint64_t, Cell> cells_;  // by the period with all but its leading 12 bits cleared
  std::uint64_t last_key_ = UINT64_MAX;
  Cell* last_cell_ = nullptr;            // most periods repeat
};

}  // namespace sim::readers

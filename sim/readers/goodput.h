// sim/readers/goodput.h: the measures of a run, from its account (design section 3).
#pragma once

#include <cstdint>

#include "sim/readers/activity_ledger.h"

namespace sim::readers {

struct Goodput {
  double time = 0;
  double stepping = 0;
  double chip = 0;
  double token = 0;
  double uptime = 0;
  double compute_utilization = 0;  // 0 when nothing stepped
};

// The measures at one date; all are dimensionless shares. With D = duration and C = chips:
//
//   time     = sum over learners of chips_l * useful step time_l / (C * D); of a step in which slices wait
//              for the slowest one, the mean over its chips of the time that they do not
//   stepping = the same with useful step time_l * stepping slices_l / slices_l, and the mean over slices
//   chip     = chip-time in bucket compute / (C * D)
//   token    = merged tokens / (native tokens per second * D)
//   uptime   = time with at least one learner stepping / D
//   compute_utilization = compute / (compute + exposed communication), of steps that stand; time spent
//              waiting for the slowest of a step, or at a barrier for a merge, is exposed communication
//
// Units:    `merged_tokens` nominal tokens merged into the global model.
// Requires: totals.duration > 0 for anything but zeros.
Goodput goodput(const tape::RunShape& shape, const ActivityTotals& totals,
                std::uint64_t merged_tokens);

}  // namespace sim::readers

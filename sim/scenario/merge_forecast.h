// sim/scenario/merge_forecast.h: who takes part in an arm's merges, and what becomes of its tokens.
//
// For a healthy fleet: what faults cost by stopping learners is not in it. What they leave behind is, for
// Decoupled DiLoCo: learners that were stopped come back out of phase, so where an arm meets failures,
// faults or steps of unequal length its learners are spread evenly over a step.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/time.h"
#include "sim/methods/fleet.h"
#include "sim/scenario/scenario.h"
#include "sim/scenario/wide_reduce.h"

namespace sim::scenario {

struct MergeForecast {
  // Shares of the tokens that the whole fleet would compute by then, as goodput.token is.
  double token = 0;        // merged into the global model
  double overwritten = 0;  // between a take and its adoption
  double discarded = 0;    // of learners that had no part in a merge and adopted it
  double waiting = 0;      // of chip-time in use: the fast for the slow, and for links
  // Methods that merge; all 0 where none is made up to the mark, and for data parallel.
  double merges = 0;
  double participation = 0;      // contributors per merge / learners
  double in_time = 0;            // of the merges that are due, those out within overlap_steps
  double made = 0;               // of the merges that are due, those made at all
  double lone = 0;               // of the merges, those of one contributor
  base::Nanoseconds sync_time = 0;   // mean, from the take to the broadcast
  base::Nanoseconds grace_time = 0;  // mean
  base::Nanoseconds fold_time = 0;   // of the largest fragment, in that
  // Not bound to the run: more learners than are played, learners of unequal pace at barriers that skip,
  // steps drawn at random, or phases assumed.
  bool about = false;
};

// From the take to the broadcast of one fragment, nothing else on the links, without grace.
struct SyncParts {
  base::Nanoseconds before, wide, after;  // beside the learners; on the slowest link; propagation
  base::Nanoseconds total() const { return before + wide + after; }
};
SyncParts sync_parts(const Scenario& scenario, const Arm& arm, const methods::Fleet& fleet,
                     const WideReduce& wide, std::size_t fragment);

// Up to the time mark; where there is only
// another mark, up to it at the pace of the whole fleet.
// Errors: std::invalid_argument where regions that must talk cannot.
MergeForecast forecast_merges(const Scenario& scenario, const Arm& arm, const methods::Fleet& fleet,
                              const WideReduce& wide, NominalPlans& plans);

}  // namespace sim::scenario

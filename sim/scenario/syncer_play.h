// sim/scenario/syncer_play.h: Decoupled DiLoCo's syncer on a healthy fleet, played from date to date.
//
// Who is in a merge depends on when reports come, how long the grace is held, and how long the syncs
// before took, which all depend on each other: no formula gives it, a recurrence over dates does. It knows
// no engine and no faults: learners step and never stop, and a sync takes what it takes on healthy links.
// The rules are those of sim/methods (syncer.cpp, grace.cpp, readers/token_ledger.h), and a test holds the
// two together.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/time.h"
#include "sim/methods/training_options.h"

namespace sim::scenario {

using base::Nanoseconds;

struct PlayedLearner {
  Nanoseconds step;    // compute, with whatever is exchanged inside the learner
  double tokens;       // of a step
  Nanoseconds report;  // on the way to the syncer
  Nanoseconds phase;   // by how much its first step is shorter: 0 for a fleet that starts together
  std::vector<Nanoseconds> push;  // of each fragment, (P)
};

struct PlayedFragment {
  double share;        // of the model's parameters
  Nanoseconds before;  // taking it, and reducing and folding it beside the learners
  Nanoseconds wide;    // on the slowest link, alone; syncs in flight share it in equal parts
  Nanoseconds after;   // propagation
};

struct SyncerPlay {
  const methods::TrainingOptions* training;
  std::vector<PlayedLearner> learners;
  std::vector<PlayedFragment> fragments;
  Nanoseconds until;         // the end of the run, as far as it is played
  std::int64_t most_steps;   // of all learners together: the play ends there and its second half goes on
};

// Counts up to `until`; those of a play that ended early are drawn out at the pace of its second half.
struct SyncerCounts {
  double due = 0, merges = 0, in_time = 0, lone = 0;  // merges: due, made, out within tau steps, of one
  double contributions = 0;
  double merged = 0, overwritten = 0, discarded = 0;  // tokens, weighted by fragment size
  double computed = 0;                                // tokens
  double sync_s = 0, grace_s = 0, graces = 0;         // sums: over merges, over graces
};

// Requires: at least one learner and one fragment, steps above 0.
SyncerCounts play_syncer(const SyncerPlay& play);

}  // namespace sim::scenario

// sim/experiment/sweep_keys.h: what can be said of a sweep before its axes are built.
#pragma once

#include "sim/base/schema.h"
#include "sim/experiment/sweep_plan.h"

namespace sim::experiment {

// Refuses axes that would do nothing, or undo something: a key twice, under whatever name; the seed; a key
// that an arm sets itself, unless asked for; a key that is set for the whole sweep. `sweep` is [sweep] as
// written, or null.
void check_keys(const SweepPlan& plan, const base::Value* sweep, base::Problems& problems);

enum class SizeAllowed {
  kAsked,     // at most 10 million runs
  kForecast,  // any number of runs that are counted only; not of values, which are all built
  kAny,
};

// Refuses, at `place`, what is too large to be begun by mistake. From the lengths alone: ten million values
// take gigabytes.
void check_size(const SweepPlan& plan, SizeAllowed allowed, const base::Place& place, base::Problems& problems);

}  // namespace sim::experiment

// sim/experiment/sweep_seeds.h: how many seeds a point has, when that depends on what they gave.
//
// With until_ci a point begins with its seeds, at least kSeedsFirst, and gets a block more for as long as the
// interval of the metric is wider than asked for in any arm. Looking again and again would make 95 % intervals that hold
// less often, so each of the at most L looks, and the interval printed at the end, has the confidence
// 1 - 0.05 / L (Bonferroni): however the stopping falls, it covers in at least 95 %.
//
// Values that are all equal have an interval of width zero, which says nothing where failures are rare. They
// are not taken for narrow before kSeedsEqual of them, or seeds_max, are there.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "sim/experiment/journal.h"
#include "sim/experiment/sweep_plan.h"

namespace sim::experiment {

// Assumed: what none of n runs shows has a probability below 3 / n, here a tenth, in 95 % of cases.
// Source: Hanley and Lippman-Hand 1983, the rule of three.
constexpr std::size_t kSeedsEqual = 30;

// Of the intervals of points.csv: 0.95 without until_ci.
double interval_confidence(const SweepPlan& plan);

// Seeds that the point has, or must get next: all arms have the same. Runs that failed give no value
// and count as seeds.
std::uint64_t seeds_wanted(const SweepPlan& plan, const Journal& journal, std::uint64_t point);

// Every run of the shard in order, as far as it is known now: with until_ci there may be more once these
// are done. No entry for one that is missing.
void visit_runs(const SweepPlan& plan, const Shard& shard, const Journal& journal,
                const std::function<void(const RunKey&, const Journal::Entry*)>& on_run);

struct NextRuns {
  bool retry_failed = false;  // runs that failed count as not done
};
// What is still to be run in this shard, in the order of visit_runs(). Empty: the shard is complete.
std::vector<RunKey> next_runs(const SweepPlan& plan, const Shard& shard, const Journal& journal,
                              const NextRuns& options);

}  // namespace sim::experiment

// sim/experiment/sweep_tables.h: runs.csv and points.csv.
//
// Both depend on the sweep alone: rows stand in the order of points, arms and seeds whatever order the
// runs ended in, and so do the columns.
#pragma once

#include <ostream>

#include "sim/experiment/journal.h"
#include "sim/experiment/sweep_plan.h"

namespace sim::experiment {

// One row per run: point, what varied, arm, seed, run_id, status (done, failed), reason, and all of
// the summary. Columns carry units as summary.json's keys do.
void write_runs_csv(const SweepPlan& plan, const Shard& shard, const Journal& journal, std::ostream& out);

// One row per point, arm and number of the summary: point, what varied, arm, metric, seeds, failed, n
// (seeds that have the number), mean, low and high of its interval, confidence, and the difference to
// the reference arm paired by seed, with its interval. A mean stands only where every run that did not
// fail has the number: a mean over those that reached a mark would flatter the arm.
void write_points_csv(const SweepPlan& plan, const Shard& shard, const Journal& journal, std::ostream& out);

}  // namespace sim::experiment

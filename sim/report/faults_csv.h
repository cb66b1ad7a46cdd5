// sim/report/faults_csv.h: the concrete faults of a run, so that another run can meet the same.
#pragma once

#include <iosfwd>

#include "sim/readers/fault_log.h"

namespace sim::report {

// Columns:
//   at_s          date of the fault, nine decimals
//   kind          kill, rate-cut, partition
//   target_kind   chip, slice, island, region, link, syncer
//   target        name of what was hit; for a chip, of its slice
//   for_s         how long it lasts as planned, nine decimals; empty: for good
//   rate_factor   share of the rate that is left; empty unless the kind is rate-cut
//   source        scripted or random
//   arm_relative  1 when the target depends on the arm, else 0
// Rows: every fault met, in the order met. This table is an input of other runs, so it is never thinned.
void write_faults_csv(const readers::FaultLog& log, const tape::RunShape& shape, std::ostream& out);

}  // namespace sim::report

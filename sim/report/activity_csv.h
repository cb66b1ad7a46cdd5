// sim/report/activity_csv.h: where the chips' time went, over time.
#pragma once

#include <iosfwd>

#include "sim/readers/activity_grid.h"

namespace sim::report {

// Columns:
//   time_s          start of the bin, nine decimals
//   bin_s           width of the bin; the last one may reach beyond the end of the run
//   <bucket>_chip_s chip-seconds in the bucket during the bin, one column per bucket
// Rows: at most 1,000 bins of equal width: 1 s, doubled until the run fits.
void write_activity_csv(const readers::ActivityGrid& grid, std::ostream& out);

}  // namespace sim::report

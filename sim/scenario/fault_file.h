// sim/scenario/fault_file.h: reads the concrete faults of an earlier run, or of a trace.
#pragma once

#include <string>
#include <vector>

#include "sim/base/schema.h"
#include "sim/chaos/fault_options.h"

namespace sim::scenario {

// CSV (csv_cells.h) with a header line. Columns, found by name, in any order; others are refused:
//   at_s          date in seconds
//   kind          kill, rate-cut, partition
//   target_kind   chip, slice, island, region, link, syncer
//   target        its name
//   for_s         how long in seconds; empty, or no such column: for good
//   rate_factor   of a rate-cut, and empty for others: share of the rate that is left, from 0 to 1
//   source        scripted or random; no such column: random
//   arm_relative  0 or 1; no such column: 0
// Nothing else has a default. Seconds may have nine decimals and are read exactly. Problems are added
// with `file` as place, at the line and column of the cell, the first ten of them.
std::vector<chaos::FaultOptions> parse_faults(const std::string& text, const std::string& file,
                                              base::Problems& problems);

}  // namespace sim::scenario

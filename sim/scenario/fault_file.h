// sim/scenario/fault_file.h: reads the concrete faults of an earlier run, or of a trace.
#pragma once

#include <string>
#include <vector>

#include "sim/base/schema.h"
#include "sim/chaos/fault_options.h"

namespace sim::scenario {

// CSV with a header line. Columns, found by name, in any order, others passed over:
//   at_s, kind (kill, rate-cut, partition), target_kind (region ...), target (its name),
//   for_s (empty: for good), rate_factor (of a rate-cut)
// Seconds may have nine decimals and are read exactly. Problems are added with `file` as place.
std::vector<chaos::FaultOptions> parse_faults(const std::string& text, const std::string& file,
                                              base::Problems& problems);

}  // namespace sim::scenario

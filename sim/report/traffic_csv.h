// sim/report/traffic_csv.h: how many bits per second crossed the WAN, over time and by class.
#pragma once

#include <iosfwd>
#include <string_view>

#include "sim/readers/traffic_ledger.h"

namespace sim::report {

// Columns:
//   time_s            start of the bin, nine decimals
//   bin_s             width of the bin
//   wan_gbps          mean over the bin of what left sources towards other regions, all classes
//   wan_<class>_gbps  the same of one class
//   local_gbps        the same inside regions, all classes
// Rows: at most 1,000 bins of equal width: 1 s, doubled until the run fits. A transfer's carried bytes
// are spread evenly from its start to its end; those still under way at the end are left out.
void write_traffic_csv(const readers::TrafficLedger& ledger, std::ostream& out);

std::string_view traffic_class_name(tape::TrafficClass traffic);

}  // namespace sim::report

// sim/report/faults_csv.cpp: see faults_csv.h for the columns.
#include "sim/report/faults_csv.h"

#include <fmt/format.h>

#include <ostream>

#include "sim/base/cell_text.h"

namespace sim::report {

void write_faults_csv(const readers::FaultLog& log, const tape::RunShape& shape,
                      std::ostream& out) {
  out << "at_s,kind,target_kind,target,for_s,rate_factor,source,arm_relative\n";
  for (const readers::MetFault& met : log.faults()) {
    const tape::FaultStarted& fault = met.fault;
    out << base::format_seconds(met.at) << ',' << readers::fault_kind_name(fault.kind) << ','
        << readers::target_kind_name(fault.target_kind) << ','
        << base::csv_cell(readers::fault_target_name(shape, fault.target_kind, fault.target)) << ',';
    if (fault.lasts < base::kNever) out << base::format_seconds(fault.lasts);
    out << ',';
    if (fault.kind == tape::FaultKind::kRateCut) out << fmt::format("{}", fault.rate_factor);
    out << ',' << (fault.scripted != 0 ? "scripted" : "random") << ','
        << (fault.arm_relative != 0 ? '1' : '0') << '\n';
  }
}

}  // namespace sim::report

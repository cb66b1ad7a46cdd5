// sim/report/traffic_csv.cpp: see traffic_csv.h for the columns.
#include "sim/report/traffic_csv.h"

#include <fmt/format.h>

#include <array>
#include <ostream>

namespace sim::report {

using tape::TrafficClass;

std::string_view traffic_class_name(TrafficClass traffic) {
  static constexpr std::array<std::string_view, tape::kTrafficClassCount> kNames = {
      "gradient", "fragment", "control", "recovery", "checkpoint", "join"};
  return kNames.at(static_cast<std::size_t>(traffic));
}

void write_traffic_csv(const readers::TrafficLedger& ledger, std::ostream& out) {
  out << "time_s,bin_s,wan_gbps";
  for (int c = 0; c < tape::kTrafficClassCount; ++c) {
    out << ",wan_" << traffic_class_name(static_cast<TrafficClass>(c)) << "_gbps";
  }
  out << ",local_gbps\n";

  const auto& table = ledger.grid();
  const auto bin_ns = static_cast<double>(table.width());
  base::Nanoseconds at = 0;
  for (const readers::TrafficBin& bin : table.bins()) {
    double wan_bytes = 0;
    for (const double bytes : bin.wan_bytes) wan_bytes += bytes;
    out << base::format_seconds(at) << ',' << base::format_seconds(table.width()) << ','
        << fmt::format("{}", wan_bytes * 8.0 / bin_ns);
    for (const double bytes : bin.wan_bytes) out << fmt::format(",{}", bytes * 8.0 / bin_ns);
    out << fmt::format(",{}\n", bin.local_bytes * 8.0 / bin_ns);
    at += table.width();
  }
}

}  // namespace sim::report

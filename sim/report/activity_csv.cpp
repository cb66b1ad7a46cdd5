// sim/report/activity_csv.cpp: see activity_csv.h for the columns.
#include "sim/report/activity_csv.h"

#include <fmt/format.h>

#include <ostream>

namespace sim::report {
namespace {

// Exact: chip-nanoseconds as chip-seconds with nine decimals.
std::string chip_seconds(readers::ChipNanoseconds time) {
  const auto whole = static_cast<std::uint64_t>(time / base::kSecond);
  const auto rest = static_cast<std::uint64_t>(time % base::kSecond);
  return fmt::format("{}.{:09}", whole, rest);
}

}  // namespace

void write_activity_csv(const readers::ActivityGrid& grid, std::ostream& out) {
  out << "time_s,bin_s";
  for (int b = 0; b < readers::kBucketCount; ++b) {
    out << ',' << readers::bucket_name(static_cast<readers::Bucket>(b)) << "_chip_s";
  }
  out << '\n';
  const auto& table = grid.grid();
  base::Nanoseconds at = 0;
  for (const readers::BucketTimes& bin : table.bins()) {
    out << base::format_seconds(at) << ',' << base::format_seconds(table.width());
    for (const readers::ChipNanoseconds time : bin.time) out << ',' << chip_seconds(time);
    out << '\n';
    at += table.width();
  }
}

}  // namespace sim::report

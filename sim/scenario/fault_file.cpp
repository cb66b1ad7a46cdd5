// sim/scenario/fault_file.cpp: reads faults.csv.
#include "sim/scenario/fault_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <sstream>

#include "sim/chaos/fault_schema.h"

namespace sim::scenario {

namespace {

std::vector<std::string> cells_of(std::string line) {
  if (!line.empty() && line.back() == '\r') line.pop_back();
  std::vector<std::string> cells(1);
  for (const char c : line) {
    if (c == ',') {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  return cells;
}

std::optional<double> number_in(const std::string& text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, code] = std::from_chars(text.data(), end, value);
  if (code != std::errc{} || rest != end || !std::isfinite(value)) return {};
  return value;
}

// One line, by the names of the header.
class Row {
 public:
  Row(const std::map<std::string, std::size_t>& columns, std::vector<std::string> cells,
      base::Place place, base::Problems& problems)
      : columns_(columns), cells_(std::move(cells)), place_(std::move(place)), problems_(problems) {}

  std::string text(const std::string& column) const {
    const auto found = columns_.find(column);
    return found == columns_.end() || found->second >= cells_.size() ? "" : cells_[found->second];
  }

  // `otherwise` when the cell is empty.
  double number(const std::string& column, double low, double high, double otherwise) const {
    const std::string cell = text(column);
    if (cell.empty()) return otherwise;
    const auto value = number_in(cell);
    if (value && *value >= low && *value <= high) return *value;
    complain(column, fmt::format("must be a number from {} to {}; got \"{}\"", low, high, cell));
    return otherwise;
  }

  void complain(const std::string& column, const std::string& message) const {
    base::Place place = place_;
    place.path = column;
    problems_.add(place, message);
  }

 private:
  const std::map<std::string, std::size_t>& columns_;
  std::vector<std::string> cells_;
  base::Place place_;
  base::Problems& problems_;
};

chaos::FaultOptions fault_in(const Row& row) {
  constexpr double kLongestSeconds = 90.0 * 86400;
  chaos::FaultOptions fault{};
  fault.scripted = false;
  fault.at = base::from_seconds(row.number("at_s", 0, kLongestSeconds, 0));
  const double for_s = row.number("for_s", 0, kLongestSeconds, -1);
  fault.lasts = for_s < 0 ? base::kNever : base::from_seconds(for_s);
  if (const auto kind = chaos::find_fault_kind(row.text("kind"))) {
    fault.kind = *kind;
  } else {
    row.complain("kind", fmt::format("must be one of kill, rate-cut, partition; got \"{}\"",
                                     row.text("kind")));
  }
  // Only a rate cut leaves part of a rate.
  fault.rate_factor = row.number("rate_factor", 0, 1, 0);
  if (fault.kind != tape::FaultKind::kRateCut) fault.rate_factor = 0;
  fault.target = row.text("target");
  if (const auto kind = chaos::find_target_kind(row.text("target_kind")); kind && !fault.target.empty()) {
    fault.target_kind = *kind;
  } else {
    row.complain("target_kind", fmt::format("must be one of chip, slice, island, region, link, syncer; "
                                            "got \"{}\"", row.text("target_kind")));
    fault.target.clear();
  }
  return fault;
}

}  // namespace

std::vector<chaos::FaultOptions> parse_faults(const std::string& text, const std::string& file,
                                              base::Problems& problems) {
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);
  const std::vector<std::string> header = cells_of(line);
  std::map<std::string, std::size_t> columns;
  for (std::size_t i = 0; i < header.size(); ++i) columns[header[i]] = i;
  for (const char* needed : {"at_s", "kind", "target_kind", "target"}) {
    if (columns.count(needed) == 0) {
      problems.add({file, {1, 1}, ""}, fmt::format("has no column {}", needed),
                   "columns are at_s kind target_kind target for_s rate_factor");
      return {};
    }
  }
  std::vector<chaos::FaultOptions> faults;
  for (int number = 2; std::getline(lines, line); ++number) {
    if (line.empty() || line == "\r") continue;
    faults.push_back(fault_in(Row(columns, cells_of(line), {file, {number, 1}, ""}, problems)));
  }
  return faults;
}

}  // namespace sim::scenario

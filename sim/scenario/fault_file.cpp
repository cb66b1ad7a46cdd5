// sim/scenario/fault_file.cpp: reads faults.csv.
#include "sim/scenario/fault_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "sim/base/cell_text.h"
#include "sim/chaos/fault_schema.h"
#include "sim/scenario/csv_cells.h"

namespace sim::scenario {

namespace {

constexpr std::size_t kProblemsMax = 10;
constexpr const char* kColumnsHint =
    "columns are at_s kind target_kind target for_s rate_factor source arm_relative";

std::optional<double> number_in(const std::string& text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, code] = std::from_chars(text.data(), end, value);
  if (code != std::errc{} || rest != end || !std::isfinite(value)) return {};
  return value;
}

// One file: its columns, and the line that is being read.
class FaultReader {
 public:
  FaultReader(const std::string& file, base::Problems& problems) : file_(file), problems_(problems) {}

  bool read_header(const CsvLine& line) {
    line_ = &line;
    for (const CsvCell& cell : line.cells) {
      if (std::ranges::find(known(), cell.text) == known().end()) {
        const std::string nearest = base::nearest_name(cell.text, known());
        complain(cell.column, cell.text, "unknown column",
                 nearest.empty() ? kColumnsHint : fmt::format("did you mean '{}'?", nearest));
      } else if (has(cell.text)) {
        complain(cell.column, cell.text, "stands twice in the header");
      }
      columns_.push_back(cell.text);
    }
    for (const char* needed : {"at_s", "kind", "target_kind", "target"}) {
      if (!has(needed)) complain(1, "", fmt::format("has no column {}", needed), kColumnsHint);
    }
    return mistakes_ == 0;
  }

  std::optional<chaos::FaultOptions> read_fault(const CsvLine& line) {
    line_ = &line;
    if (line.cells.size() != columns_.size()) {
      complain(1, "", fmt::format("must have {} cells, one per column; got {}", columns_.size(),
                                  line.cells.size()));
      return {};
    }
    const std::size_t before = mistakes_;
    chaos::FaultOptions fault{};
    fault.at = read_date();
    fault.lasts = text("for_s").empty() ? base::kNever : read_duration();
    read_kind(fault);
    read_target(fault);
    fault.scripted = read_choice("source", {"random", "scripted"}) == 1;
    fault.arm_relative = read_choice("arm_relative", {"0", "1"}) == 1;
    return mistakes_ == before ? std::optional(fault) : std::nullopt;
  }

  std::size_t mistakes() const { return mistakes_; }

 private:
  static const std::vector<std::string>& known() {
    static const std::vector<std::string> names = {"at_s",  "kind",        "target_kind", "target",
                                                   "for_s", "rate_factor", "source",      "arm_relative"};
    return names;
  }
  bool has(std::string_view column) const {
    return std::ranges::find(columns_, column) != columns_.end();
  }
  const CsvCell& cell(std::string_view column) const {
    static const CsvCell none{{}, 1};
    const auto found = std::ranges::find(columns_, column);
    return found == columns_.end() ? none
                                   : line_->cells[static_cast<std::size_t>(found - columns_.begin())];
  }
  const std::string& text(std::string_view column) const { return cell(column).text; }

  void complain(int column, const std::string& key, const std::string& message,
                const std::string& hint = {}) {
    if (++mistakes_ <= kProblemsMax) problems_.add({file_, {line_->number, column}, key}, message, hint);
  }
  void complain(const std::string& column, const std::string& message, const std::string& hint = {}) {
    complain(cell(column).column, column, fmt::format("{}; got \"{}\"", message, text(column)), hint);
  }

  base::Nanoseconds read_date() {
    constexpr double kLatestSeconds = 90.0 * 86400;  // no run lasts longer
    const auto seconds = number_in(text("at_s"));
    if (!seconds || *seconds < 0 || *seconds > kLatestSeconds) {
      complain("at_s", fmt::format("must be seconds from 0 to {}", kLatestSeconds));
      return 0;
    }
    return base::parse_seconds(text("at_s")).value_or(base::from_seconds(*seconds));
  }

  // A repair that was drawn may be longer than any run.
  base::Nanoseconds read_duration() {
    const auto seconds = number_in(text("for_s"));
    if (!seconds || *seconds < 0) {
      complain("for_s", "must be seconds from 0 on, or empty for good");
      return 0;
    }
    return base::parse_seconds(text("for_s")).value_or(base::from_seconds(*seconds));
  }

  void read_kind(chaos::FaultOptions& fault) {
    const auto kind = chaos::find_fault_kind(text("kind"));
    if (!kind) {
      complain("kind", "must be one of kill, rate-cut, partition");
      return;
    }
    fault.kind = *kind;
    const bool cut = fault.kind == tape::FaultKind::kRateCut;
    if (!cut && text("rate_factor").empty()) return;
    const auto factor = number_in(text("rate_factor"));
    if (!cut) {
      complain("rate_factor", fmt::format("must be empty for a {}", text("kind")),
               "a rate-cut leaves part of a rate");
    } else if (!factor || *factor < 0 || *factor > 1) {
      complain("rate_factor", "must be a number from 0 to 1", "0 leaves nothing of the rate");
    } else {
      fault.rate_factor = *factor;
    }
  }

  void read_target(chaos::FaultOptions& fault) {
    const auto kind = chaos::find_target_kind(text("target_kind"));
    if (!kind) complain("target_kind", "must be one of chip, slice, island, region, link, syncer");
    if (text("target").empty()) complain("target", "must be the name of what is hit");
    if (kind) fault.target_kind = *kind;
    fault.target = base::text_of_cell(text("target"));
  }

  // Which of the two; the first where there is no such column.
  int read_choice(const std::string& column, const std::array<const char*, 2>& choices) {
    if (!has(column) || text(column) == choices[0]) return 0;
    if (text(column) != choices[1]) {
      complain(column, fmt::format("must be {} or {}", choices[0], choices[1]));
    }
    return 1;
  }

  const std::string& file_;
  base::Problems& problems_;
  std::vector<std::string> columns_;
  const CsvLine* line_ = nullptr;
  std::size_t mistakes_ = 0;
};

}  // namespace

std::vector<chaos::FaultOptions> parse_faults(const std::string& text, const std::string& file,
                                              base::Problems& problems) {
  const std::size_t before = problems.list().size();
  const std::vector<CsvLine> lines = csv_lines(text, file, problems);
  if (problems.list().size() > before) return {};
  if (lines.empty()) {
    problems.add({file, {1, 1}, ""}, "is empty", kColumnsHint);
    return {};
  }
  FaultReader reader(file, problems);
  if (!reader.read_header(lines[0])) return {};
  std::vector<chaos::FaultOptions> faults;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    if (const auto fault = reader.read_fault(lines[i])) faults.push_back(*fault);
  }
  if (reader.mistakes() > kProblemsMax) {
    problems.add({file, {}, ""},
                 fmt::format("{} further cells are wrong", reader.mistakes() - kProblemsMax));
  }
  return faults;
}

}  // namespace sim::scenario

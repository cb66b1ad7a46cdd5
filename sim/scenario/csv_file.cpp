// sim/scenario/csv_file.cpp: see csv_file.h.
#include "sim/scenario/csv_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <string_view>
#include <vector>

#include "sim/scenario/csv_cells.h"

namespace sim::scenario {

using base::Problems;

namespace {

constexpr std::size_t kProblemsMax = 10;
constexpr std::size_t kClassesMax = 100'000;  // as of key classes

// One parse: what is read so far, and the mistakes met.
class TableParser {
 public:
  TableParser(const CsvSource& source, Problems& problems) : source_(source), problems_(problems) {}

  std::optional<optim::Table> parse(const std::string& text) {
    const std::size_t before = problems_.list().size();
    const std::vector<CsvLine> lines = csv_lines(text, source_.file, problems_);
    if (problems_.list().size() > before) return {};
    if (lines.empty()) {
      problems_.add(source_.file_place, fmt::format("names an empty file; got \"{}\"", source_.file));
      return {};
    }
    if (!read_header(lines[0])) return {};
    for (std::size_t i = 1; i < lines.size(); ++i) read_row(lines[i]);
    if (mistakes_ > kProblemsMax) {
      problems_.add({source_.file, {}, ""},
                    fmt::format("{} further cells are wrong", mistakes_ - kProblemsMax));
    }
    if (mistakes_ > 0 || !name_classes()) return {};
    return std::move(table_);
  }

 private:
  void complain(int line, const CsvCell& cell, const std::string& column, const std::string& message,
                const std::string& hint = {}) {
    if (++mistakes_ > kProblemsMax) return;
    problems_.add({source_.file, {line, cell.column}, column}, message, hint);
  }

  bool read_header(const CsvLine& line) {
    for (const CsvCell& cell : line.cells) {
      const std::string name(cell.text);
      const auto twin = std::ranges::find(names_, name);
      if (name.empty()) {
        complain(line.number, cell, "", "a column must have a name");
      } else if (twin != names_.end()) {
        complain(line.number, cell, name,
                 fmt::format("must be unique; column {} has this name already",
                             twin - names_.begin() + 1));
      }
      names_.push_back(name);
    }
    if (mistakes_ > 0 || !find_target()) return false;
    if (names_.size() > 1) return true;
    complain(line.number, line.cells[0], names_[0], "must stand beside a column of numbers");
    return false;
  }

  bool find_target() {
    target_ = names_.size() - 1;
    if (source_.target.empty()) return true;
    const auto found = std::ranges::find(names_, source_.target);
    target_ = static_cast<std::size_t>(found - names_.begin());
    if (found != names_.end()) return true;
    const std::string nearest = base::nearest_name(source_.target, names_);
    problems_.add(source_.target_place,
                  fmt::format("no column of {} has this name; got \"{}\"", source_.file, source_.target),
                  nearest.empty() ? fmt::format("columns are {}", fmt::join(names_, " "))
                                  : fmt::format("did you mean '{}'?", nearest));
    return false;
  }

  void read_row(const CsvLine& line) {
    if (line.cells.size() != names_.size()) {
      complain(line.number, {{}, 1}, "",
               fmt::format("must have {} cells, one per column; got {}", names_.size(),
                           line.cells.size()));
      return;
    }
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const CsvCell& cell = line.cells[i];
      if (cell.text.empty()) {
        complain(line.number, cell, names_[i], "must have a value; got an empty cell");
      } else if (i == target_) {
        labels_.emplace_back(cell.text);
      } else {
        table_.features.push_back(number_in(line.number, cell, names_[i]));
      }
    }
  }

  double number_in(int line, const CsvCell& cell, const std::string& column) {
    constexpr double kLargest = 1e100;
    double value = 0;
    const char* const end = cell.text.data() + cell.text.size();
    const char* const first = cell.text.data() + (cell.text.starts_with('+') ? 1 : 0);
    const auto [rest, code] = std::from_chars(first, end, value);
    if (rest != end || code == std::errc::invalid_argument) {
      complain(line, cell, column, fmt::format("must be a number; got \"{}\"", cell.text),
               "only the column that learning.target names may hold text");
    } else if (code != std::errc{} || (std::isfinite(value) && std::fabs(value) > kLargest)) {
      complain(line, cell, column,
               fmt::format("must be between -1e100 and 1e100; got \"{}\"", cell.text));
    } else if (!std::isfinite(value)) {
      complain(line, cell, column, fmt::format("must be a finite number; got \"{}\"", cell.text));
    }
    return value;
  }

  // Classes and labels from the texts of the target column.
  bool name_classes() {
    std::map<std::string_view, std::int32_t> classes;
    for (const std::string& label : labels_) classes.emplace(label, 0);
    if (labels_.size() < 2) {
      problems_.add(source_.file_place,
                    fmt::format("must have at least two rows below the header; {} has {}",
                                source_.file, labels_.size()));
      return false;
    }
    if (classes.size() < 2 || classes.size() > kClassesMax) {
      problems_.add(source_.target_place,
                    fmt::format("must name a column with 2 to {} different values; \"{}\" has {}",
                                kClassesMax, names_[target_], classes.size()));
      return false;
    }
    std::int32_t next = 0;
    for (auto& [name, index] : classes) {
      index = next++;
      table_.classes.emplace_back(name);
    }
    for (const std::string& label : labels_) table_.labels.push_back(classes.at(label));
    table_.columns = names_.size() - 1;
    return true;
  }

  const CsvSource& source_;
  Problems& problems_;
  std::vector<std::string> names_;
  std::size_t target_ = 0;
  std::vector<std::string> labels_;  // (rows)
  optim::Table table_;
  std::size_t mistakes_ = 0;
};

}  // namespace

std::optional<optim::Table> parse_table(const std::string& text, const CsvSource& source,
                                        Problems& problems) {
  return TableParser(source, problems).parse(text);
}

}  // namespace sim::scenario

// sim/scenario/csv_cells.cpp: see csv_cells.h.
#include "sim/scenario/csv_cells.h"

namespace sim::scenario {

namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

class CsvReader {
 public:
  CsvReader(std::string_view text, const std::string& file, base::Problems& problems)
      : text_(text), file_(file), problems_(problems) {
    if (text_.starts_with("\xef\xbb\xbf")) text_.remove_prefix(3);  // a byte order mark
  }

  std::vector<CsvLine> read() {
    std::vector<CsvLine> lines;
    while (here_ < text_.size()) {
      CsvLine line{line_number_, {}};
      do {
        line.cells.push_back(read_cell());
      } while (take(','));
      take('\n');
      if (line.cells.size() > 1 || !line.cells[0].text.empty()) lines.push_back(std::move(line));
    }
    return lines;
  }

 private:
  bool at(char c) const { return here_ < text_.size() && text_[here_] == c; }
  bool take(char c) {
    if (!at(c)) return false;
    ++here_;
    if (c == '\n') {
      ++line_number_;
      line_start_ = here_;
    }
    return true;
  }
  int column() const { return static_cast<int>(here_ - line_start_) + 1; }
  void complain(int line, int column, const char* message) {
    problems_.add({file_, {line, column}, ""}, message, "in a quoted cell a quote is written twice");
  }

  // Stands behind the cell afterwards: on its comma, its line feed, or at the end.
  CsvCell read_cell() {
    while (here_ < text_.size() && is_blank(text_[here_])) ++here_;
    CsvCell cell{{}, column()};
    if (at('"')) {
      cell.text = read_quoted();
      while (here_ < text_.size() && is_blank(text_[here_])) ++here_;
      if (here_ == text_.size() || at(',') || at('\n')) return cell;
      complain(line_number_, column(), "stands beside the quotes of a cell");
    }
    const std::size_t first = here_;
    here_ = std::min(text_.find_first_of(",\n", here_), text_.size());
    std::size_t end = here_;
    while (end > first && is_blank(text_[end - 1])) --end;
    cell.text += text_.substr(first, end - first);
    return cell;
  }

  std::string read_quoted() {
    const int line = line_number_, first = column();
    std::string text;
    ++here_;
    while (here_ < text_.size()) {
      if (at('"')) {
        ++here_;
        if (!at('"')) return text;
      }
      text += text_[here_];
      if (!take('\n')) ++here_;
    }
    complain(line, first, "opens quotes that nothing closes");
    return text;
  }

  std::string_view text_;
  const std::string& file_;
  base::Problems& problems_;
  std::size_t here_ = 0, line_start_ = 0;
  int line_number_ = 1;
};

}  // namespace

std::vector<CsvLine> csv_lines(std::string_view text, const std::string& file, base::Problems& problems) {
  return CsvReader(text, file, problems).read();
}

}  // namespace sim::scenario

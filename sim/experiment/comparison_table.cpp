// sim/experiment/comparison_table.cpp: see comparison_table.h.
#include "sim/experiment/comparison_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "sim/base/cell_text.h"
#include "sim/experiment/figure.h"

namespace sim::experiment {
namespace {

constexpr std::size_t kColumnsMax = 100;
constexpr std::size_t kNameWidthMax = 28;

// Columns on a terminal: every character of ours but the letters of "±" takes one byte.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0u) != 0x80u; }));
}

std::string padded(const std::string& text, std::size_t width) {
  return text + std::string(width - std::min(width, width_of(text)), ' ');
}

// Lines of at most `width` columns, broken at spaces; a longer word stands alone.
std::vector<std::string> wrapped(const std::string& text, std::size_t width) {
  std::vector<std::string> lines;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (lines.empty() || width_of(lines.back()) + 1 + width_of(word) > width) {
      lines.push_back(word);
    } else {
      lines.back() += " " + word;
    }
  }
  return lines;
}

// An interval needs no more digits than its size: two, where the figure has no fixed decimals.
std::string half_width_text(double half_width, int decimals) {
  return decimals < 0 ? fmt::format("{:.2g}", half_width) : format_figure(half_width, decimals);
}

std::string estimate_text(const Estimate& estimate, int decimals) {
  std::string text = format_figure(estimate.mean, decimals);
  if (estimate.half_width) text += " ±" + half_width_text(*estimate.half_width, decimals);
  return text;
}

std::string target_text(const ComparisonCell& cell, int decimals, std::size_t seeds) {
  const std::string share = seeds == 1 ? "" : fmt::format(" ({} of {})", cell.reached, seeds);
  if (std::isinf(*cell.median)) return "not reached" + share;
  return format_figure(*cell.median, decimals) + share + (cell.best ? " *" : "");
}

std::string value_text(const ComparisonCell& cell, const Measure& measure, std::size_t seeds) {
  if (cell.median) return target_text(cell, measure.decimals, seeds);
  if (cell.value) return estimate_text(*cell.value, measure.decimals) + (cell.best ? " *" : "");
  if (cell.reached == 0) return measure.key.starts_with("marks.") ? "not reached" : "-";
  return fmt::format("reached by {} of {}", cell.reached, seeds);
}

std::string difference_text(const ComparisonCell& cell, int decimals) {
  if (!cell.difference) return "";
  const std::string text = estimate_text(*cell.difference, decimals);
  return cell.difference->mean > 0.0 ? fmt::format("+{}", text) : text;
}

bool same_clock(const Comparison& comparison) {
  return std::ranges::count(comparison.clocks, comparison.clocks.front()) ==
         static_cast<std::ptrdiff_t>(comparison.clocks.size());
}

std::string clock_text(const std::string& clock) {
  const bool is_clock = clock != "no failures" && clock != "recorded faults";
  return is_clock ? clock + " clock" : clock;
}

void add_column(Table& table, const std::string& title, std::vector<std::string> cells) {
  table.columns.push_back(title);
  for (std::size_t i = 0; i < cells.size(); ++i) table.cells[i].push_back(std::move(cells[i]));
}

constexpr const char* kSteppingNote =
    "stepping, time, chip: steps that may never reach the global model; token: merged work alone";

// The clock of failures stands beside every goodput.
Table open_table(const Comparison& comparison, const Measure& measure) {
  Table table = {measure.group, {}, std::vector<std::vector<std::string>>(comparison.arms.size())};
  if (!measure.key.starts_with("goodput.")) return table;
  table.note = kSteppingNote;
  if (same_clock(comparison)) {
    table.heading += ", " + clock_text(comparison.clocks.front());
  } else {
    std::vector<std::string> clocks;
    for (const std::string& clock : comparison.clocks) clocks.push_back(clock_text(clock));
    add_column(table, "failures by", std::move(clocks));
  }
  return table;
}

void add_row(const Comparison& comparison, const ComparisonRow& row, Table& table) {
  std::vector<std::string> values, differences;
  bool differs = false;
  for (const ComparisonCell& cell : row.cells) {
    values.push_back(value_text(cell, row.measure, comparison.seeds.size()));
    differences.push_back(difference_text(cell, row.measure.decimals));
    differs = differs || cell.difference.has_value();
  }
  add_column(table, row.measure.column, std::move(values));
  if (row.measure.shows_difference && differs) {
    add_column(table, row.measure.column + " minus ref", std::move(differences));
  }
}

std::string line_of(const std::string& name, std::size_t name_width,
                    const std::vector<std::string>& cells, const std::vector<std::size_t>& widths,
                    std::size_t first, std::size_t end) {
  std::string line = padded(name, name_width);
  for (std::size_t c = first; c < end; ++c) line += "  " + padded(cells[c], widths[c]);
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::vector<std::size_t> column_widths(const Table& table) {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    std::size_t width = 10;
    for (const auto& cells : table.cells) width = std::max(width, width_of(cells[c]));
    for (const std::string& word : wrapped(table.columns[c], 1)) {
      width = std::max(width, width_of(word));
    }
    widths.push_back(width);
  }
  return widths;
}

// The titles of the columns, wrapped into their widths.
std::string title_lines(const Table& table, std::size_t name_width,
                        const std::vector<std::size_t>& widths, std::size_t first,
                        std::size_t end) {
  std::vector<std::vector<std::string>> titles;
  std::size_t height = 0;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    titles.push_back(wrapped(table.columns[c], widths[c]));
    if (c >= first && c < end) height = std::max(height, titles.back().size());
  }
  std::string text;
  for (std::size_t line = 0; line < height; ++line) {
    std::vector<std::string> cells;
    for (const auto& title : titles) {
      const std::size_t above = height - std::min(height, title.size());  // stands on the figures
      cells.push_back(line < above ? "" : title[line - above]);
    }
    text += line_of(line + 1 == height ? "arm" : "", name_width, cells, widths, first, end);
  }
  return text;
}

std::string joined_text(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    for (const std::string& part : wrapped(line, kColumnsMax)) text += part + "\n";
  }
  return text;
}

std::string note_text(const Table& table) {
  return table.note.empty() ? "" : joined_text({"(" + table.note + ")"});
}

std::string table_text(const Table& table, const std::vector<std::string>& arms) {
  std::size_t name_width = 3;
  for (const std::string& arm : arms) {
    if (width_of(arm) <= kNameWidthMax) name_width = std::max(name_width, width_of(arm));
  }
  const std::vector<std::size_t> widths = column_widths(table);
  std::string text = table.heading + "\n";
  for (std::size_t first = 0; first < widths.size();) {
    std::size_t end = first, used = name_width;
    while (end < widths.size() && (end == first || used + 2 + widths[end] <= kColumnsMax)) {
      used += 2 + widths[end++];
    }
    if (first > 0) text += "\n";
    text += title_lines(table, name_width, widths, first, end);
    for (std::size_t i = 0; i < arms.size(); ++i) {
      const bool is_long = width_of(arms[i]) > kNameWidthMax;
      if (is_long) {
        for (const std::string& part : wrapped(arms[i], kColumnsMax)) text += part + "\n";
      }
      text += line_of(is_long ? "" : arms[i], name_width, table.cells[i], widths, first, end);
    }
    first = end;
  }
  return text + note_text(table);
}

// One arm: a list of its figures.
std::string list_text(const Table& table, std::size_t title_width) {
  std::string text = table.heading + "\n";
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    text += fmt::format("  {}  {}\n", padded(table.columns[c], title_width), table.cells.front()[c]);
  }
  return text + note_text(table);
}

bool any_cell(const Comparison& comparison, bool ComparisonCell::* flag) {
  return std::ranges::any_of(comparison.rows, [flag](const ComparisonRow& row) {
    return std::ranges::any_of(row.cells, flag);
  });
}

}  // namespace

std::vector<Table> tables_of(const Comparison& comparison) {
  std::vector<Table> tables;
  std::string group;
  for (const ComparisonRow& row : comparison.rows) {
    if (tables.empty() || row.measure.group != group) {
      tables.push_back(open_table(comparison, row.measure));
      group = row.measure.group;
    }
    add_row(comparison, row, tables.back());
  }
  return tables;
}

std::vector<std::string> head_lines(const Comparison& comparison) {
  const std::vector<std::uint64_t>& seeds = comparison.seeds;
  std::vector<std::string> lines = {comparison.scenario};
  lines.push_back(seeds.size() == 1
                      ? fmt::format("seed {}", seeds.front())
                      : fmt::format("n = {} seeds ({} to {}), mean ±95 % interval (Student's t)",
                                    seeds.size(), seeds.front(), seeds.back()));
  if (comparison.arms.size() > 1) {
    lines.back() += fmt::format("; reference arm (ref): {}", comparison.arms[comparison.reference]);
  } else {
    lines.back() += fmt::format("; arm: {}", comparison.arms.front());
  }
  if (!comparison.marks.empty()) {
    lines.push_back(fmt::format("marks: {}", fmt::join(comparison.marks, ", ")));
  }
  if (!comparison.power.empty()) lines.push_back("energy: " + comparison.power);
  if (!comparison.version.empty()) {
    lines.push_back("atoll " + comparison.version);
  }
  return lines;
}

std::vector<std::string> foot_lines(const Comparison& comparison) {
  std::vector<std::string> lines;
  if (any_cell(comparison, &ComparisonCell::best)) {
    lines.push_back("* best, of measures that no arm wins by doing less: the paired interval against the next "
                    "arm excludes 0");
  }
  const bool has_targets = std::ranges::any_of(
      comparison.rows, [](const ComparisonRow& row) { return row.measure.is_target; });
  if (has_targets && comparison.seeds.size() > 1) {
    lines.push_back("to a loss: median over seeds (seeds that reached it); not reached is infinity");
  }
  for (const std::string& note : comparison.notes) lines.push_back("note: " + note);
  return lines;
}

std::string as_text(const Comparison& comparison) {
  std::string text = joined_text(head_lines(comparison));
  const std::vector<Table> tables = tables_of(comparison);
  std::size_t title_width = 0;
  for (const Table& table : tables) {
    for (const std::string& column : table.columns) {
      title_width = std::max(title_width, width_of(column));
    }
  }
  for (const Table& table : tables) {
    text += "\n" + (comparison.arms.size() == 1 ? list_text(table, title_width)
                                                : table_text(table, comparison.arms));
  }
  const std::string foot = joined_text(foot_lines(comparison));
  return foot.empty() ? text : text + "\n" + foot;
}

std::string as_markdown(const Comparison& comparison) {
  const auto line = [](const std::string& first, const std::vector<std::string>& cells) {
    std::string text = fmt::format("| {} |", first);
    for (const std::string& cell : cells) text += fmt::format(" {} |", cell);
    return text + "\n";
  };
  std::string text;
  for (const std::string& head : head_lines(comparison)) text += head + "  \n";
  for (const Table& table : tables_of(comparison)) {
    text += fmt::format("\n**{}**\n\n", table.heading) + line("arm", table.columns) + "|---|";
    for (std::size_t c = 0; c < table.columns.size(); ++c) text += "---|";
    text += "\n";
    for (std::size_t i = 0; i < comparison.arms.size(); ++i) {
      text += line(base::markdown_cell(comparison.arms[i]), table.cells[i]);
    }
    if (!table.note.empty()) text += fmt::format("\n{}\n", table.note);
  }
  const std::vector<std::string> foot = foot_lines(comparison);
  if (!foot.empty()) text += "\n";
  for (const std::string& note : foot) text += note + "  \n";
  return text;
}

}  // namespace sim::experiment

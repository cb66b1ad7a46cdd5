// sim/experiment/comparison_format.cpp: see comparison_format.h.
//
// Text and Markdown share one grid of cells; a cell is formatted in one place, so the two cannot
// differ. CSV and JSON carry the unrounded numbers.
#include "sim/experiment/comparison_format.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/experiment/figure.h"

namespace sim::experiment {
namespace {

constexpr std::size_t kColumnsMax = 100;

struct GridRow {
  std::string title;
  std::vector<std::string> cells;  // per arm
};

// Columns on a terminal: every character of ours but the letters of "±" takes one byte.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0u) != 0x80u; }));
}

std::string padded(const std::string& text, std::size_t width) {
  return text + std::string(width - std::min(width, width_of(text)), ' ');
}

std::string estimate_text(const Estimate& estimate, int decimals) {
  std::string text = format_figure(estimate.mean, decimals);
  if (estimate.half_width) text += " ±" + format_figure(*estimate.half_width, decimals);
  return text;
}

std::string value_text(const ComparisonCell& cell, const std::string& key, int decimals,
                       std::size_t seeds) {
  if (cell.value) return estimate_text(*cell.value, decimals) + (cell.best ? " *" : "");
  if (cell.reached == 0) return key.starts_with("marks.") ? "not reached" : "-";
  return fmt::format("reached by {} of {}", cell.reached, seeds);
}

std::string difference_text(const ComparisonCell& cell, int decimals) {
  if (!cell.difference) return "";
  const std::string text = estimate_text(*cell.difference, decimals);
  return cell.difference->mean > 0.0 ? fmt::format("+{}", text) : text;
}

bool is_goodput(const ComparisonRow& row) { return row.key.starts_with("goodput."); }

bool same_clock(const Comparison& comparison) {
  return std::ranges::count(comparison.clocks, comparison.clocks.front()) ==
         static_cast<std::ptrdiff_t>(comparison.clocks.size());
}

std::string clock_text(const std::string& clock) {
  const bool is_clock = clock != "no failures" && clock != "recorded faults";
  return is_clock ? clock + " clock" : clock;
}

GridRow value_row(const Comparison& comparison, const ComparisonRow& row) {
  GridRow grid = {row.title, {}};
  const bool one_clock = same_clock(comparison);
  if (is_goodput(row) && one_clock) grid.title += ", " + clock_text(comparison.clocks.front());
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    grid.cells.push_back(value_text(row.cells[i], row.key, row.decimals, comparison.seeds.size()));
    if (is_goodput(row) && !one_clock) {
      grid.cells.back() += ", " + clock_text(comparison.clocks[i]);
    }
  }
  return grid;
}

std::vector<GridRow> grid_of(const Comparison& comparison) {
  std::vector<GridRow> grid;
  for (const ComparisonRow& row : comparison.rows) {
    grid.push_back(value_row(comparison, row));
    const bool any = std::ranges::any_of(
        row.cells, [](const ComparisonCell& cell) { return cell.difference.has_value(); });
    if (!row.shows_difference || !any) continue;
    grid.push_back({fmt::format("  minus {}", comparison.arms.front()), {}});
    for (const ComparisonCell& cell : row.cells) {
      grid.back().cells.push_back(difference_text(cell, row.decimals));
    }
  }
  return grid;
}

std::string head_of(const Comparison& comparison) {
  const std::size_t seeds = comparison.seeds.size();
  std::string head = comparison.scenario + "\n";
  if (seeds == 1) {
    head += fmt::format("seed {}", comparison.seeds.front());
  } else {
    head += fmt::format("{} seeds, mean ±95 % interval", seeds);
  }
  if (comparison.arms.size() > 1) {
    head += fmt::format("; reference arm: {}", comparison.arms.front());
  }
  return head + "\n";
}

std::string foot_of(const Comparison& comparison) {
  std::string foot;
  const bool any_best = std::ranges::any_of(comparison.rows, [](const ComparisonRow& row) {
    return std::ranges::any_of(row.cells, &ComparisonCell::best);
  });
  if (any_best) foot += "* best: the paired interval against the next arm excludes 0\n";
  for (const std::string& note : comparison.notes) foot += fmt::format("note: {}\n", note);
  return foot;
}

std::string line_of(const std::string& title, std::size_t title_width,
                    const std::vector<std::string>& cells, const std::vector<std::size_t>& widths,
                    std::size_t first, std::size_t end) {
  std::string line = padded(title, title_width);
  for (std::size_t i = first; i < end; ++i) line += fmt::format("  {}", padded(cells[i], widths[i]));
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

nlohmann::ordered_json json_of(const std::optional<Estimate>& estimate) {
  if (!estimate) return nullptr;
  nlohmann::ordered_json json = {{"mean", estimate->mean}, {"half_width_95", nullptr}};
  if (estimate->half_width) json["half_width_95"] = *estimate->half_width;
  return json;
}

std::string csv_number(const std::optional<double>& value) {
  return value ? fmt::format("{}", *value) : "";
}

std::string csv_estimate(const std::optional<Estimate>& estimate) {
  if (!estimate) return ",";
  return csv_number(estimate->mean) + "," + csv_number(estimate->half_width);
}

}  // namespace

std::string as_text(const Comparison& comparison) {
  const std::vector<GridRow> grid = grid_of(comparison);
  std::size_t title_width = 0;
  std::vector<std::size_t> widths;
  for (const std::string& arm : comparison.arms) widths.push_back(width_of(arm));
  for (const GridRow& row : grid) {
    title_width = std::max(title_width, width_of(row.title));
    for (std::size_t i = 0; i < widths.size(); ++i) {
      widths[i] = std::max(widths[i], width_of(row.cells[i]));
    }
  }
  std::string text = head_of(comparison);
  for (std::size_t first = 0; first < widths.size();) {
    std::size_t end = first, used = title_width;
    while (end < widths.size() && (end == first || used + 2 + widths[end] <= kColumnsMax)) {
      used += 2 + widths[end++];
    }
    text += "\n";
    text += line_of("", title_width, comparison.arms, widths, first, end);
    for (const GridRow& row : grid) {
      text += line_of(row.title, title_width, row.cells, widths, first, end);
    }
    first = end;
  }
  const std::string foot = foot_of(comparison);
  return foot.empty() ? text : text + "\n" + foot;
}

std::string as_markdown(const Comparison& comparison) {
  const auto line = [](const std::string& title, const std::vector<std::string>& cells) {
    std::string text = fmt::format("| {} |", title);
    for (const std::string& cell : cells) text += fmt::format(" {} |", cell);
    return text + "\n";
  };
  std::string text = head_of(comparison) + "\n" + line("", comparison.arms) + "|---|";
  for (std::size_t i = 0; i < comparison.arms.size(); ++i) text += "---|";
  text += "\n";
  for (const GridRow& row : grid_of(comparison)) text += line(row.title, row.cells);
  const std::string foot = foot_of(comparison);
  return foot.empty() ? text : text + "\n" + foot;
}

std::string as_csv(const Comparison& comparison) {
  std::string text =
      "key,title,arm,clock,seeds,reached,mean,half_width_95,difference_mean,"
      "difference_half_width_95,best\n";
  for (const ComparisonRow& row : comparison.rows) {
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      const ComparisonCell& cell = row.cells[i];
      text += fmt::format("{},{},{},{},{},{},{},{},{}\n", row.key, row.title, comparison.arms[i],
                          comparison.clocks[i], comparison.seeds.size(), cell.reached,
                          csv_estimate(cell.value), csv_estimate(cell.difference),
                          cell.best ? 1 : 0);
    }
  }
  return text;
}

std::string as_json(const Comparison& comparison, const std::vector<Verdict>& verdicts,
                    const std::vector<FinishedRun>& runs) {
  nlohmann::ordered_json json = {{"format", 1},
                                 {"scenario", comparison.scenario},
                                 {"reference", comparison.arms.front()},
                                 {"seeds", comparison.seeds},
                                 {"measures", nlohmann::ordered_json::array()}};
  for (const ComparisonRow& row : comparison.rows) {
    nlohmann::ordered_json arms = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      const ComparisonCell& cell = row.cells[i];
      arms.push_back({{"arm", comparison.arms[i]},
                      {"clock", comparison.clocks[i]},
                      {"reached", cell.reached},
                      {"value", json_of(cell.value)},
                      {"difference", json_of(cell.difference)},
                      {"best", cell.best}});
    }
    json["measures"].push_back({{"key", row.key}, {"title", row.title}, {"arms", arms}});
  }
  json["notes"] = comparison.notes;
  json["expectations"] = nlohmann::ordered_json::array();
  for (const Verdict& verdict : verdicts) {
    json["expectations"].push_back({{"key", verdict.key},
                                    {"wanted", verdict.wanted},
                                    {"got", verdict.got},
                                    {"met", verdict.met}});
  }
  json["runs"] = nlohmann::ordered_json::array();
  for (const FinishedRun& run : runs) json["runs"].push_back(run.summary);
  return json.dump(2) + "\n";
}

}  // namespace sim::experiment

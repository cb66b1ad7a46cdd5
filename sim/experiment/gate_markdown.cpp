// sim/experiment/gate_markdown.cpp: a gate's report as a comment on a pull request (gate.h).
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "sim/experiment/gate_format.h"

namespace sim::experiment {
namespace {

// A name as code in a cell of a table. Whatever could end the cell or the code, link or call somebody is
// written as a number, which Markdown reads as plain text.
std::string code(std::string_view text) {
  if (text.empty()) return "";
  constexpr std::string_view kPlain = " .,=:/()+-%\"";
  std::string result = "<code>";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || byte >= 0x80;
    if (letter || kPlain.find(c) != std::string_view::npos) {
      result += c;
    } else {
      result += byte < 0x20 ? std::string("&#65533;") : fmt::format("&#{};", byte);
    }
  }
  return result + "</code>";
}

// As it is, behind more backticks than it has in a row.
std::string block(const std::string& text) {
  std::size_t longest = 0, row = 0;
  for (const char c : text) {
    row = c == '`' ? row + 1 : 0;
    longest = std::max(longest, row);
  }
  const std::string fence(std::max<std::size_t>(3, longest + 1), '`');
  return fence + "\n" + text + (text.ends_with('\n') ? "" : "\n") + fence + "\n";
}

std::string changes(const GateReport& report) {
  std::string text;
  const std::size_t shown = std::min(report.changes.size(), kGateChangesMax);
  for (std::size_t i = 0; i < shown; ++i) text += "changed " + as_line(report.changes[i]) + "\n";
  if (report.changes.size() > shown) text += fmt::format("and {} more changed\n", report.changes.size() - shown);
  return text;
}

std::string rest(const GateReport& report, std::size_t rows) {
  if (report.cells.size() <= rows) return "";
  const std::size_t failures = report.failures() - std::min(report.failures(), rows);
  return fmt::format("\nand {} more, {} of which fail\n", report.cells.size() - rows, failures);
}

}  // namespace

std::string as_markdown(const GateReport& report) {
  std::string text = fmt::format("### Goodput gate: {}\n\n", verdict_line(report));
  text += "| | loss (points) | at least | before (%) | now (%) | arm | point |\n|---|---:|---:|---:|---:|---|---|\n";
  const std::size_t rows = std::min(report.cells.size(), kGateRowsMax);
  for (std::size_t i = 0; i < rows; ++i) {
    const GateCell& cell = report.cells[i];
    const GateFigures shown = figures(report, cell);
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", word(cell.verdict), shown.loss, shown.at_least,
                        shown.before, shown.now, code(cell.arm),
                        code(report.metrics.size() < 2 ? cell.point : cell.metric + " " + cell.point));
  }
  std::string details = facts(report) + changes(report);
  const auto failing = std::ranges::find_if(
      report.cells, [](const GateCell& cell) { return cell.fails && !cell.command.empty(); });
  if (failing != report.cells.end()) details += "repeat: " + failing->command + "\n";
  return text + rest(report, rows) + "\n" + block(details);
}

std::string failed_run_as_markdown(const std::vector<std::string>& metrics, const std::string& failure) {
  return fmt::format("### Goodput gate: no verdict on {}\n\n{}", code(fmt::format("{}", fmt::join(metrics, ", "))),
                     block("a run failed: " + failure));
}

}  // namespace sim::experiment

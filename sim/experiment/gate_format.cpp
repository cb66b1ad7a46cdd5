// sim/experiment/gate_format.cpp: what a gate found, as text, Markdown and JUnit (gate.h).
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "sim/experiment/gate.h"

namespace sim::experiment {
namespace {

constexpr std::size_t kRowsMax = 30, kChangesMax = 20;

const char* word(CellVerdict verdict) {
  switch (verdict) {
    case CellVerdict::kHeld: return "held";
    case CellVerdict::kWorse: return "WORSE";
    case CellVerdict::kBetter: return "better";
    case CellVerdict::kMissing: return "MISSING";
    case CellVerdict::kNew: return "new";
    case CellVerdict::kChanged: return "CHANGED";
  }
  return "";
}

std::string points(double share) {
  std::string text = fmt::format("{:.2f}", 100 * share);
  return text == "-0.00" ? "0.00" : text;
}

std::string name(const GateCell& cell) {
  return cell.point.empty() ? cell.arm : fmt::format("{}: {}", cell.arm, cell.point);
}

bool has_loss(const GateCell& cell) {
  return cell.verdict != CellVerdict::kMissing && cell.verdict != CellVerdict::kNew;
}

std::string verdict_line(const GateReport& report) {
  const std::size_t failures = report.failures();
  return failures == 0 ? fmt::format("passed: {} of {} points held", report.cells.size(), report.cells.size())
                       : fmt::format("FAILED: {} of {} points", failures, report.cells.size());
}

std::string facts(const GateReport& report) {
  return fmt::format(
      "metric {}, {} seeds before, {} now; test: {}\na point fails from a loss of {} points on, at {:.2g} one-sided "
      "({} family-wise)\nversion before {}, now {}\n",
      report.metric, report.seeds_before, report.seeds_after, report.test, points(report.smallest_loss), report.tail,
      kFamilyAlarm, report.version_before, report.version_after);
}

std::string changes(const GateReport& report, std::string_view lead) {
  std::string text;
  for (std::size_t i = 0; i < std::min(report.changes.size(), kChangesMax); ++i) {
    const ScenarioChange& change = report.changes[i];
    const auto shown = [](const std::string& value) { return value.empty() ? std::string("(none)") : value; };
    text += fmt::format("{}{}: {} -> {}\n", lead, change.key, shown(change.was), shown(change.now));
  }
  if (report.changes.size() > kChangesMax) {
    text += fmt::format("{}and {} more\n", lead, report.changes.size() - kChangesMax);
  }
  return text;
}

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      default: result += c;
    }
  }
  return result;
}

std::string loss_text(const GateCell& cell) {
  if (!has_loss(cell)) return "";
  return fmt::format("loss {} points, at least {}, from {} to {} %", points(cell.loss.mean), points(cell.loss.low),
                     points(cell.before), points(cell.after));
}

}  // namespace

std::string as_text(const GateReport& report) {
  std::string text = facts(report);
  if (!report.changes.empty()) text += "changed keys:\n" + changes(report, "  ");
  text += fmt::format("\n{:<8} {:>7} {:>9} {:>8} {:>8}  {}\n", "", "loss", "at least", "before", "now", "point");
  for (std::size_t i = 0; i < std::min(report.cells.size(), kRowsMax); ++i) {
    const GateCell& cell = report.cells[i];
    const bool loss = has_loss(cell);
    text += fmt::format("{:<8} {:>7} {:>9} {:>8} {:>8}  {}\n", word(cell.verdict), loss ? points(cell.loss.mean) : "",
                        loss ? points(cell.loss.low) : "",
                        cell.verdict == CellVerdict::kNew ? "" : points(cell.before),
                        cell.verdict == CellVerdict::kMissing ? "" : points(cell.after), name(cell));
    if (cell.fails && !cell.command.empty()) text += fmt::format("         repeat: {}\n", cell.command);
  }
  if (report.cells.size() > kRowsMax) text += fmt::format("and {} more\n", report.cells.size() - kRowsMax);
  return text + "\n" + verdict_line(report) + "\n";
}

std::string as_markdown(const GateReport& report) {
  std::string text = fmt::format("### Goodput gate: {}\n\n", verdict_line(report));
  text += "| | loss (points) | at least | before (%) | now (%) | arm | point |\n|---|---:|---:|---:|---:|---|---|\n";
  for (std::size_t i = 0; i < std::min(report.cells.size(), kRowsMax); ++i) {
    const GateCell& cell = report.cells[i];
    const bool loss = has_loss(cell);
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", word(cell.verdict),
                        loss ? points(cell.loss.mean) : "", loss ? points(cell.loss.low) : "",
                        cell.verdict == CellVerdict::kNew ? "" : points(cell.before),
                        cell.verdict == CellVerdict::kMissing ? "" : points(cell.after), cell.arm,
                        cell.point.empty() ? "" : "`" + cell.point + "`");
  }
  if (report.cells.size() > kRowsMax) text += fmt::format("\nand {} more\n", report.cells.size() - kRowsMax);
  text += "\n```\n" + facts(report) + changes(report, "changed ");
  for (const GateCell& cell : report.cells) {
    if (cell.fails && !cell.command.empty()) {
      text += "repeat: " + cell.command + "\n";
      break;
    }
  }
  return text + "```\n";
}

std::string as_junit(const GateReport& report) {
  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"atoll check: {}\" tests=\"{}\" failures=\"{}\">\n",
      escaped(report.metric), report.cells.size(), report.failures());
  for (const GateCell& cell : report.cells) {
    text += fmt::format("  <testcase classname=\"{}\" name=\"{}\">", escaped(cell.arm),
                        escaped(cell.point.empty() ? cell.arm : cell.point));
    if (cell.fails) {
      const std::string body = fmt::format("{}\nrepeat: {}\n", loss_text(cell), cell.command);
      text += fmt::format("\n    <failure message=\"{}\">{}</failure>\n  ",
                          escaped(fmt::format("{}: {}", word(cell.verdict), loss_text(cell))), escaped(body));
    }
    text += "</testcase>\n";
  }
  return text + "</testsuite>\n";
}

}  // namespace sim::experiment

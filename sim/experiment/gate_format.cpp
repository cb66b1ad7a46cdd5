// sim/experiment/gate_format.cpp: see gate_format.h; and the report as text (gate.h).
#include "sim/experiment/gate_format.h"

#include <fmt/format.h>

#include <algorithm>

namespace sim::experiment {
namespace {

std::string shown(const SeedCounts& counts) {
  return counts.least == counts.most ? fmt::format("{}", counts.most) : fmt::format("{} to {}", counts.least, counts.most);
}

std::string rule(const GateReport& report) {
  if (report.exact) return "a point fails when a trace differs";
  return fmt::format("a point fails from a loss{} of {} points on, at {:.2g} {} ({} family-wise)",
                     report.strict ? " or a gain" : "", points(report.smallest_loss), report.tail,
                     report.strict ? "to each side" : "one-sided", kFamilyAlarm);
}

}  // namespace

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

GateFigures figures(const GateReport& report, const GateCell& cell) {
  const bool is_new = cell.verdict == CellVerdict::kNew, missing = cell.verdict == CellVerdict::kMissing;
  const bool tested = !report.exact && !is_new && !missing;
  return {tested ? points(cell.loss.mean) : "", tested ? points(cell.loss.low) : "", is_new ? "" : points(cell.before),
          missing ? "" : points(cell.after)};
}

std::string verdict_line(const GateReport& report) {
  const std::size_t added = report.count(CellVerdict::kNew), guarded = report.cells.size() - added;
  const std::size_t held = report.count(CellVerdict::kHeld), better = report.count(CellVerdict::kBetter);
  std::string text = report.passed() ? fmt::format("passed: {} of {} points held", held, guarded)
                                     : fmt::format("FAILED: {} of {} points; {} held", report.failures(), guarded, held);
  if (better > 0) text += fmt::format(", {} better", better);
  if (added > 0) text += fmt::format(", {} new", added);
  return text;
}

std::string name_of(const GateReport& report, const GateCell& cell) {
  const std::string place = cell.point.empty() ? cell.arm : fmt::format("{}: {}", cell.arm, cell.point);
  return report.metrics.size() < 2 ? place : fmt::format("{} of {}", cell.metric, place);
}

std::string in_words(const std::vector<std::string>& metrics) {
  return fmt::format("{} {}", metrics.size() == 1 ? "metric" : "metrics", fmt::join(metrics, ", "));
}

std::string facts(const GateReport& report) {
  return fmt::format("{}, {} seeds before, {} now; test: {}\n{}\nversion before {}, now {}\n",
                     in_words(report.metrics), shown(report.seeds_before), shown(report.seeds_after), report.test, rule(report),
                     report.version_before, report.version_after);
}

std::string as_text(const GateReport& report) {
  std::string text = facts(report);
  if (!report.changes.empty()) text += "changed keys:\n";
  for (const ScenarioChange& change : report.changes) text += "  " + as_line(change) + "\n";
  text += fmt::format("\n{:<8} {:>7} {:>9} {:>8} {:>8}  {}\n", "", "loss", "at least", "before", "now", "point");
  const std::size_t rows = std::min(report.cells.size(), std::max(kGateRowsMax, report.failures()));
  for (std::size_t i = 0; i < rows; ++i) {
    const GateCell& cell = report.cells[i];
    const GateFigures shown = figures(report, cell);
    text += fmt::format("{:<8} {:>7} {:>9} {:>8} {:>8}  {}\n", word(cell.verdict), shown.loss, shown.at_least,
                        shown.before, shown.now, name_of(report, cell));
    if (cell.fails && !cell.command.empty()) text += fmt::format("         repeat: {}\n", cell.command);
  }
  if (report.cells.size() > rows) text += fmt::format("and {} more, none of which fails\n", report.cells.size() - rows);
  return text + "\n" + verdict_line(report) + "\n";
}

}  // namespace sim::experiment

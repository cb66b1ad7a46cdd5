// sim/experiment/gate_junit.cpp: a gate's report as JUnit XML (gate.h).
#include <fmt/format.h>

#include <string_view>

#include "sim/experiment/gate_format.h"

namespace sim::experiment {
namespace {

// XML 1.0 has no control characters below 0x20 but these two and CR, in no form; in an attribute a parser
// makes spaces of them unless they are written as numbers.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      case '\t': result += "&#9;"; break;
      case '\n': result += "&#10;"; break;
      default: result += static_cast<unsigned char>(c) < 0x20 ? "\xEF\xBF\xBD" : std::string(1, c);
    }
  }
  return result;
}

std::string head(const std::vector<std::string>& metrics, std::size_t tests, std::size_t failures, std::size_t errors) {
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuite name=\"atoll check: {}\" tests=\"{}\" failures=\"{}\" errors=\"{}\">\n",
      escaped(fmt::format("{}", fmt::join(metrics, ", "))), tests, failures, errors);
}

std::string reason(const GateReport& report, const GateCell& cell) {
  if (cell.verdict == CellVerdict::kMissing) return fmt::format("was {} %, is measured no more", points(cell.before));
  const std::string means = fmt::format("from {} to {} %", points(cell.before), points(cell.after));
  if (report.exact) return "another trace, " + means;
  if (cell.verdict == CellVerdict::kBetter) {
    return fmt::format("gain {} points, at least {}, {}", points(-cell.loss.mean), points(-cell.loss.high), means);
  }
  return fmt::format("loss {} points, at least {}, {}", points(cell.loss.mean), points(cell.loss.low), means);
}

std::string failure(const GateReport& report, const GateCell& cell) {
  const std::string message = fmt::format("{}: {}", word(cell.verdict), reason(report, cell));
  const std::string body = message + (cell.command.empty() ? "" : "\nrepeat: " + cell.command);
  return fmt::format("\n    <failure message=\"{}\">{}</failure>\n  ", escaped(message), escaped(body));
}

}  // namespace

std::string as_junit(const GateReport& report) {
  std::string text = head(report.metrics, report.cells.size(), report.failures(), 0);
  for (const GateCell& cell : report.cells) {
    const std::string place = cell.point.empty() ? cell.arm : cell.point;
    const std::string name = report.metrics.size() < 2 ? place : cell.metric + " of " + place;
    text += fmt::format("  <testcase classname=\"{}\" name=\"{}\">{}</testcase>\n", escaped(cell.arm),
                        escaped(name), cell.fails ? failure(report, cell) : "");
  }
  return text + "</testsuite>\n";
}

std::string failed_run_as_junit(const std::vector<std::string>& metrics, const std::string& failure) {
  const std::string message = "a run failed: " + failure;
  const std::string first = message.substr(0, message.find('\n'));
  return head(metrics, 1, 0, 1) +
         fmt::format("  <testcase classname=\"runs\" name=\"all runs end\">\n    <error message=\"{}\">{}</error>\n  "
                     "</testcase>\n</testsuite>\n",
                     escaped(first), escaped(message));
}

}  // namespace sim::experiment

// sim/cli/check.cpp: `atoll check`: the curve of today against its baseline; exit code 1 when it lost.
#include <fmt/format.h>

#include "sim/cli/gate_verb.h"
#include "sim/cli/output.h"
#include "sim/cli/verbs.h"
#include "sim/experiment/gate.h"

namespace sim::cli {
namespace {

std::optional<std::string> unusable(const CommandLine& line, const experiment::Curve& before,
                                    const experiment::Curve& now) {
  if (const auto reason = experiment::incomparable(before, now)) return *reason;
  for (const experiment::CurveCell& cell : now.cells) {
    if (!line.sweep.exact && cell.seeds.size() < 2) return "one seed tells no spread";
  }
  return std::nullopt;
}

}  // namespace

int check(const CommandLine& line) {
  // Before any run: a baseline that cannot be read costs nothing.
  const experiment::ReadCurve read = experiment::read_curve(line.sweep.baseline);
  if (!read.curve) {
    print_error(read.trouble + "\n");
    return kFileTrouble;
  }
  const Measured measured = measure(line);
  if (!measured.curve) return measured.exit_code;
  if (const auto reason = unusable(line, *read.curve, *measured.curve)) {
    print_error(fmt::format("{}: error: cannot be compared: {}\n  hint: record it again with atoll baseline\n",
                            line.sweep.baseline, *reason));
    return kMistake;
  }
  experiment::GateOptions options;
  options.smallest_loss = line.sweep.smallest_points / 100;
  options.exact = line.sweep.exact;
  options.strict = line.sweep.strict;
  options.file = measured.scenario_file;
  options.sets = measured.sets;
  const experiment::GateReport report = experiment::compare_curves(*read.curve, *measured.curve, options);
  bool written = print_result(as_text(report));
  if (!line.sweep.junit.empty()) written = write_file(line.sweep.junit, as_junit(report)) && written;
  if (!line.sweep.markdown.empty()) written = write_file(line.sweep.markdown, as_markdown(report)) && written;
  if (!written) return kFileTrouble;
  return report.passed() ? kDone : kUnmet;
}

}  // namespace sim::cli

// sim/cli/check.cpp: `atoll check`: the curve of today against its baseline; exit code 1 when it lost.
#include <fmt/format.h>

#include "sim/base/diagnostic.h"
#include "sim/cli/gate_verb.h"
#include "sim/cli/output.h"
#include "sim/cli/output_file.h"
#include "sim/cli/verbs.h"
#include "sim/experiment/gate.h"
#include "sim/experiment/gate_file.h"

namespace sim::cli {
namespace {

// Exit code when this sweep cannot be judged by that baseline. Nothing has run yet.
std::optional<int> refusal(const CommandLine& line, const experiment::Curve& before, const experiment::SweepPlan& plan) {
  if (const auto mistake = experiment::incomparable(line.sweep.baseline, before, plan)) {
    print_error(base::format(*mistake) + "\n");
    return kMistake;
  }
  // The baseline's own seeds were enough when it was recorded.
  if (line.seeds.empty() || line.sweep.exact) return std::nullopt;
  const std::vector<std::uint64_t>& seeds = line.seeds;
  const bool spread_known = seeds.size() >= 2;
  const double found = spread_known ? experiment::detectable_loss(before, seeds.size()) : 0;
  if (spread_known && found <= experiment::kGuardedLoss) return std::nullopt;
  const std::string reach = spread_known ? fmt::format("they find a loss of {:.2f} points in 95 % of cases, and {:.1f} is wanted",
                                                       100 * found, 100 * experiment::kGuardedLoss)
                                         : "one seed tells no spread";
  return say_mistake(place_of_seeds(line, plan),
                     fmt::format("too few to tell: {}; got {}..{}", reach, seeds.front(), seeds.back()),
                     "leave --seeds out: the baseline's are taken");
}

experiment::GateOptions options_of(const CommandLine& line, const experiment::SweepPlan& plan) {
  experiment::GateOptions options;
  options.smallest_loss = line.sweep.smallest_points / 100;
  options.exact = line.sweep.exact;
  options.strict = line.sweep.strict;
  options.file = plan.file;
  options.sets = plan.sets;
  return options;
}

// The baseline's seeds in each cell, or those of the command line in all: none are added on the way.
Measured measure_again(const CommandLine& line, const experiment::Curve& before, const experiment::SweepPlan& plan) {
  experiment::SweepPlan fixed = plan;
  fixed.options.until_ci = 0;
  Measured measured = measure(fixed, line);
  if (!measured.curve) return measured;
  measured.curve->scenario = experiment::shown_text(plan);
  if (line.seeds.empty()) experiment::keep_seeds_of(before, *measured.curve);
  return measured;
}

}  // namespace

int check(const CommandLine& line) {
  // Before any run: a baseline that cannot be read costs nothing.
  const experiment::ReadCurve read = experiment::read_curve(line.sweep.baseline);
  if (!read.curve) {
    print_error(read.trouble + "\n");
    return kFileTrouble;
  }
  LoadedSweep loaded = load_curve(line);
  if (!loaded.plan) return loaded.exit_code;
  experiment::SweepPlan& plan = *loaded.plan;
  if (line.seeds.empty()) plan.seeds = experiment::seeds_of(*read.curve);
  if (const auto exit_code = refusal(line, *read.curve, plan)) return *exit_code;
  OutputFile junit(line.sweep.junit), markdown(line.sweep.markdown);
  if (!junit.is_open() || !markdown.is_open()) return kFileTrouble;

  const Measured measured = measure_again(line, *read.curve, plan);
  if (!measured.failed_run.empty()) {
    junit.write(experiment::failed_run_as_junit(plan.options.metrics, measured.failed_run));
    markdown.write(experiment::failed_run_as_markdown(plan.options.metrics, measured.failed_run));
  }
  if (!measured.curve) return measured.exit_code;
  const experiment::GateReport report =
      experiment::compare_curves(*read.curve, *measured.curve, options_of(line, plan));
  bool written = print_result(as_text(report));
  written = junit.write(as_junit(report)) && written;
  written = markdown.write(as_markdown(report)) && written;
  if (!written) return kFileTrouble;
  return report.passed() ? kDone : kUnmet;
}

}  // namespace sim::cli

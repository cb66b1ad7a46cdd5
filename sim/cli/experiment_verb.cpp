// sim/cli/experiment_verb.cpp: see experiment_verb.h.
#include "sim/cli/experiment_verb.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <thread>
#include <utility>

#include "sim/base/diagnostic.h"
#include "sim/cli/output.h"
#include "sim/cli/repeat_command.h"
#include "sim/cli/verbs.h"
#include "sim/experiment/comparison.h"
#include "sim/experiment/comparison_format.h"
#include "sim/experiment/comparison_table.h"
#include "sim/experiment/expectations.h"
#include "sim/experiment/experiment.h"
#include "sim/experiment/run_findings.h"

namespace sim::cli {
namespace {

using experiment::ExperimentEnd;
using experiment::ExperimentOptions;
using experiment::ExperimentOutcome;

// Jobs x threads never exceeds the cores. What is asked for is cut down to that: the results are
// the same for any number, so a command line written for a larger machine still holds here.
struct Workers {
  int jobs, threads;
};
Workers share_cores(const CommandLine& line, std::size_t runs) {
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const int useful = static_cast<int>(std::min<std::size_t>(runs, static_cast<std::size_t>(cores)));
  Workers workers = {line.jobs, line.threads};
  if (workers.threads == 0) workers.threads = cores / (workers.jobs > 0 ? workers.jobs : useful);
  workers.threads = std::clamp(workers.threads, 1, cores);
  const int jobs_max = std::max(1, cores / workers.threads);
  workers.jobs = workers.jobs == 0 ? jobs_max : std::min(workers.jobs, jobs_max);
  return workers;
}

std::vector<experiment::RunPlan> plan(const std::vector<std::size_t>& arms,
                                      const std::vector<std::uint64_t>& seeds) {
  std::vector<experiment::RunPlan> runs;
  for (const std::size_t arm : arms) {
    for (const std::uint64_t seed : seeds) runs.push_back({arm, seed});
  }
  return runs;
}

// One line on a terminal, gone at the end; nothing anywhere else.
std::function<void(double)> progress_line(const CommandLine& line, std::size_t runs) {
  if (line.quiet || isatty(STDERR_FILENO) == 0) return nullptr;
  return [runs, shown = -1](double share) mutable {
    const int percent = static_cast<int>(share * 100.0);
    if (percent == shown) return;
    shown = percent;
    print_error(percent >= 100 ? "\r                                \r"
                               : fmt::format("\r{:3} % of {} {}", percent, runs,
                                             runs == 1 ? "run" : "runs"));
  };
}

ExperimentOptions options_from(const CommandLine& line, const scenario::Scenario& scenario,
                               const std::vector<std::size_t>& arms) {
  ExperimentOptions options{};
  options.runs =
      plan(arms, line.seeds.empty() ? std::vector<std::uint64_t>{scenario.seed} : line.seeds);
  const Workers workers = share_cores(line, options.runs.size());
  options.jobs = workers.jobs;
  options.threads = workers.threads;
  if (!line.results.empty()) {
    const std::string stem = std::filesystem::path(line.file).stem().string();
    options.results_folder = (std::filesystem::path(line.results) / stem).string();
  }
  options.overwrite =
      line.force ? experiment::Overwrite::kForce : experiment::Overwrite::kSameScenarioOnly;
  options.record = line.record;
  options.abort_at_s = line.abort_at_s;
  options.repeat_command = [&line, &scenario, workers](const experiment::RunPlan& run) {
    return repeat_command(line, scenario.arms[run.arm].training.name, run.seed, workers.threads);
  };
  options.on_progress = progress_line(line, options.runs.size());
  return options;
}

// Unmet expectations as diagnostics, so that they are seen whatever the format on stdout.
void say_unmet(const std::string& file, const std::vector<experiment::Verdict>& verdicts) {
  for (const experiment::Verdict& verdict : verdicts) {
    if (verdict.met) continue;
    const std::string place =
        verdict.line > 0 ? fmt::format("{}:{}:{}", file, verdict.line, verdict.column) : file;
    print_error(fmt::format("{}: error: expect.{}: wanted {}; got {}\n", place, verdict.key,
                            verdict.wanted, verdict.got));
  }
}

// Expectations on arms that did not run, one line each. Whether at least one could be checked, or
// there are none: a test that tests nothing must not pass.
bool say_unchecked(const std::string& file, const scenario::Scenario& scenario,
                   const std::vector<experiment::FinishedRun>& runs) {
  const std::vector<std::string> lines = experiment::unchecked(scenario, runs);
  for (const std::string& text : lines) print_error(text + "\n");
  if (lines.empty() || lines.size() < scenario.expectations.size()) return true;
  print_error(fmt::format("{}: error: expect: nothing could be checked\n"
                          "  hint: run an arm that it names, or atoll compare for all arms\n",
                          file));
  return false;
}

std::string table(const CommandLine& line, const experiment::Comparison& comparison,
                  const std::vector<experiment::Verdict>& verdicts,
                  const std::vector<std::string>& unchecked,
                  const std::vector<experiment::FinishedRun>& runs) {
  const std::string judged =
      verdicts.empty() ? "" : fmt::format("\n{}", as_text(verdicts));
  switch (line.format) {
    case Format::kText: return as_text(comparison) + judged;
    case Format::kMarkdown: return as_markdown(comparison) + judged;
    case Format::kCsv: return as_csv(comparison);
    case Format::kJson: return as_json(comparison, verdicts, unchecked, runs);
  }
  throw std::logic_error("a format without a writer");
}

// What overlap_steps = "fit" stands for; the resolved scenario shows the number alone.
void add_fitted(const scenario::Scenario& scenario, experiment::Comparison& comparison) {
  for (const scenario::Arm& arm : scenario.arms) {
    if (!arm.training.overlap_fit || std::ranges::count(comparison.arms, arm.training.name) == 0) continue;
    comparison.notes.push_back(fmt::format("{}: overlap_steps = \"fit\" is {} here", arm.training.name,
                                           arm.training.overlap_steps));
  }
}

// What happened and is in no column, as warnings: they are seen whatever the format on stdout.
void say_findings(const std::string& file, const scenario::Scenario& scenario,
                  const std::vector<experiment::FinishedRun>& runs) {
  for (const std::string& text : experiment::findings_of(scenario, runs)) {
    print_error(base::format(base::Diagnostic{file, {}, "", text, "", base::Severity::kWarning}) + "\n");
  }
}

int report(const CommandLine& line, const scenario::Scenario& scenario,
           std::optional<std::size_t> reference, const std::vector<experiment::FinishedRun>& runs) {
  const std::vector<experiment::Verdict> verdicts = experiment::judge(scenario, runs);
  experiment::Comparison comparison = experiment::compare(scenario, runs, reference);
  add_fitted(scenario, comparison);
  const std::string text = table(line, comparison, verdicts,
                                 experiment::unchecked(scenario, runs), runs);
  const bool printed = print_result(text);
  say_findings(line.file, scenario, runs);
  say_unmet(line.file, verdicts);
  const bool checked = say_unchecked(line.file, scenario, runs);
  if (!printed) return kFileTrouble;
  return checked && experiment::all_met(verdicts) ? kDone : kUnmet;
}

}  // namespace

int run_arms(const CommandLine& line, const scenario::Scenario& scenario,
             const std::vector<std::size_t>& arms, std::optional<std::size_t> reference,
             std::shared_ptr<const trainer::SnapshotFile> resume) {
  ExperimentOptions options = options_from(line, scenario, arms);
  options.resume = std::move(resume);
  const ExperimentOutcome outcome = experiment::run_experiment(scenario, options);
  switch (outcome.end) {
    case ExperimentEnd::kDone: return report(line, scenario, reference, outcome.runs);
    case ExperimentEnd::kRefused: print_error(outcome.message + "\n"); return kMistake;
    case ExperimentEnd::kFileTrouble: print_error(outcome.message + "\n"); return kFileTrouble;
    case ExperimentEnd::kBug: print_error(outcome.message); return kBug;
    case ExperimentEnd::kInterrupted: return experiment::exit_code_of_signal(outcome.signal_number);
  }
  throw std::logic_error("an outcome without an exit code");
}

}  // namespace sim::cli

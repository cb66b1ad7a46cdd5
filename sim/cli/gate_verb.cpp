// sim/cli/gate_verb.cpp: see gate_verb.h.
#include "sim/cli/gate_verb.h"

#include <fmt/format.h>

#include <utility>

#include "sim/base/diagnostic.h"
#include "sim/cli/output.h"
#include "sim/cli/verbs.h"
#include "sim/experiment/gate_point.h"

namespace sim::cli {
namespace {

Measured ended(const experiment::SweepOutcome& outcome) {
  switch (outcome.end) {
    case experiment::SweepEnd::kDone:
    case experiment::SweepEnd::kTooManyFailures:
      print_error(fmt::format("a run failed: {}\n", outcome.first_failure));
      return {std::nullopt, kFailedRuns, outcome.first_failure};
    case experiment::SweepEnd::kInterrupted:
      return {std::nullopt, experiment::exit_code_of_signal(outcome.signal_number), ""};
    case experiment::SweepEnd::kRefused: print_error(outcome.message + "\n"); return {std::nullopt, kMistake, ""};
    case experiment::SweepEnd::kFileTrouble:
      print_error(outcome.message + "\n");
      return {std::nullopt, kFileTrouble, ""};
    case experiment::SweepEnd::kBug: break;
  }
  print_error("bug: " + outcome.message + "\n");
  return {std::nullopt, kBug, ""};
}

}  // namespace

LoadedSweep load_curve(const CommandLine& line) {
  LoadedSweep loaded = load_sweep(line, false);
  if (!loaded.plan) return loaded;
  const experiment::SweepPlan& plan = *loaded.plan;
  for (const std::string& metric : plan.options.metrics) {
    if (experiment::is_gate_metric(metric)) continue;
    return {std::nullopt, say_mistake(place_of_metric(line, plan),
                                      fmt::format("must be a share of which more is better; got {}", metric),
                                      fmt::format("one of {}", fmt::join(experiment::kGateMetrics, " ")))};
  }
  if (const auto twice = experiment::point_held_twice(plan)) {
    return {std::nullopt, say_mistake(plan.options.axes[0].place,
                                      fmt::format("a gate needs each point once; got {} twice", *twice),
                                      "give other values, or fewer samples")};
  }
  return loaded;
}

Measured measure(const experiment::SweepPlan& plan, const CommandLine& line) {
  experiment::MeasuredCurve measured =
      experiment::measure_curve(plan, sweep_jobs(line), test_switches(line), sweep_progress(line));
  end_progress(line);
  if (measured.curve) return {std::move(measured.curve), 0, ""};
  if (measured.arm_without_metric.empty()) return ended(measured.outcome);
  return {std::nullopt,
          say_mistake(place_of_metric(line, plan),
                      fmt::format("{} is no number in the summary of arm '{}'", measured.missing_metric,
                                  measured.arm_without_metric),
                      "goodput.token is one"),
          ""};
}

base::Place place_of_seeds(const CommandLine& line, const experiment::SweepPlan& plan) {
  return line.seeds.empty() ? plan.seeds_place : base::Place{line.file, {}, "--seeds"};
}

base::Place place_of_metric(const CommandLine& line, const experiment::SweepPlan& plan) {
  return !line.sweep.metrics.empty() ? base::Place{line.file, {}, "--metric"} : plan.metric_place;
}

int say_mistake(const base::Place& place, const std::string& message, const std::string& hint) {
  print_error(base::format(base::Diagnostic{place.file, place.position, place.path, message, hint}) + "\n");
  return kMistake;
}

}  // namespace sim::cli

// sim/experiment/expectations.cpp: see expectations.h.
#include "sim/experiment/expectations.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "sim/experiment/figure.h"
#include "sim/experiment/run_findings.h"
#include "sim/scenario/expectation.h"

namespace sim::experiment {
namespace {

// The figure furthest from what is wanted; none if some run has none.
struct Worst {
  std::size_t run_count = 0;
  std::optional<double> figure;
  std::optional<std::uint64_t> seed_without;
  std::string reason_without;
};

// A loss that is no number any more is told as what happened, not as a mark that was missed.
std::string reason_without(const std::string& field, const FinishedRun& run) {
  const std::optional<std::string> diverged = divergence_in(run.summary);
  const bool is_loss = field.ends_with("loss") || field.starts_with("loss.");
  return diverged && is_loss ? *diverged + "," : "not reached";
}

Worst worst_of(const scenario::Expectation& expectation, std::size_t arm,
               const std::vector<FinishedRun>& runs) {
  Worst worst;
  for (const FinishedRun& run : runs) {
    if (run.arm != arm) continue;
    ++worst.run_count;
    const std::optional<double> figure = figure_at(run.summary, expectation.field);
    if (!figure) {
      worst.seed_without = run.seed;
      worst.reason_without = reason_without(expectation.field, run);
    } else if (!worst.figure) {
      worst.figure = figure;
    } else {
      worst.figure = expectation.is_minimum ? std::min(*worst.figure, *figure)
                                            : std::max(*worst.figure, *figure);
    }
  }
  return worst;
}

Verdict verdict_of(const scenario::Expectation& expectation, const Worst& worst) {
  Verdict verdict;
  verdict.key = scenario::expectation_key(expectation);
  verdict.wanted =
      fmt::format("{} {}", expectation.is_minimum ? "at least" : "at most", expectation.bound);
  verdict.line = expectation.line;
  verdict.column = expectation.column;
  if (worst.seed_without) {
    verdict.got = fmt::format("{} with seed {}", worst.reason_without, *worst.seed_without);
    verdict.met = false;
  } else {
    verdict.got = fmt::format("{:.6g}", *worst.figure);
    // Written so that a figure that is no number is unmet.
    verdict.met = expectation.is_minimum ? *worst.figure >= expectation.bound
                                         : *worst.figure <= expectation.bound;
  }
  return verdict;
}

std::optional<std::size_t> arm_index(const scenario::Scenario& scenario, const std::string& name) {
  for (std::size_t i = 0; i < scenario.arms.size(); ++i) {
    if (scenario.arms[i].training.name == name) return i;
  }
  return std::nullopt;
}

void add_unmet(const scenario::Scenario& scenario, const FinishedRun& run, const char* what,
               const std::string& wanted, const std::string& got, std::vector<Verdict>& verdicts) {
  verdicts.push_back({.key = fmt::format("{}.{}, seed {}", scenario.arms[run.arm].training.name, what,
                                         run.seed),
                      .wanted = wanted,
                      .got = got,
                      .met = false,
                      .line = 0,
                      .column = 0});
}

void add_unmet_faults(const scenario::Scenario& scenario, const FinishedRun& run,
                      std::vector<Verdict>& verdicts) {
  const scenario::Arm& arm = scenario.arms[run.arm];
  const auto scripted = static_cast<double>(std::ranges::count_if(
      arm.faults, [](const chaos::FaultOptions& fault) { return fault.scripted; }));
  const double met = figure_at(run.summary, "faults_met_scripted").value_or(0.0);
  if (met >= scripted) return;
  add_unmet(scenario, run, "faults_met_scripted", fmt::format("all {} scripted faults", scripted),
            fmt::format("{:.6g}", met), verdicts);
}

void add_standstills(const scenario::Scenario& scenario, const FinishedRun& run,
                     std::vector<Verdict>& verdicts) {
  for (const std::string& text : standstills_in(run.summary)) {
    add_unmet(scenario, run, "liveness", "everybody back in merges once all has healed", text, verdicts);
  }
}

void add_violations(const scenario::Scenario& scenario, const FinishedRun& run,
                    std::vector<Verdict>& verdicts) {
  const double count = figure_at(run.summary, "properties.violation_count").value_or(0.0);
  if (count == 0.0) return;
  const auto properties = run.summary.find("properties");
  const auto list = properties->find("violations");
  const bool named = list != properties->end() && list->is_array() && !list->empty();
  add_unmet(scenario, run, "properties.violation_count", "no property violated",
            fmt::format("{:.6g}{}", count,
                        named ? ", first: " + list->front().get<std::string>() : std::string()),
            verdicts);
}

}  // namespace

std::vector<Verdict> judge(const scenario::Scenario& scenario,
                           const std::vector<FinishedRun>& runs) {
  std::vector<Verdict> verdicts;
  for (const scenario::Expectation& expectation : scenario.expectations) {
    const std::optional<std::size_t> arm = arm_index(scenario, expectation.arm);
    if (!arm) continue;
    const Worst worst = worst_of(expectation, *arm, runs);
    if (worst.run_count > 0) verdicts.push_back(verdict_of(expectation, worst));
  }
  for (const FinishedRun& run : runs) add_violations(scenario, run, verdicts);
  if (scenario.expectations.empty()) return verdicts;
  for (const FinishedRun& run : runs) {
    add_unmet_faults(scenario, run, verdicts);
    add_standstills(scenario, run, verdicts);
  }
  return verdicts;
}

std::vector<std::string> unchecked(const scenario::Scenario& scenario,
                                   const std::vector<FinishedRun>& runs) {
  std::vector<std::string> lines;
  for (const scenario::Expectation& expectation : scenario.expectations) {
    const std::optional<std::size_t> arm = arm_index(scenario, expectation.arm);
    const bool ran = arm && std::ranges::count(runs, *arm, &FinishedRun::arm) > 0;
    if (ran) continue;
    lines.push_back(fmt::format("not checked: {}: arm {} was not run",
                                scenario::expectation_key(expectation), expectation.arm));
  }
  return lines;
}

bool all_met(const std::vector<Verdict>& verdicts) {
  return std::ranges::all_of(verdicts, &Verdict::met);
}

std::string as_text(const std::vector<Verdict>& verdicts) {
  std::string text;
  for (const Verdict& verdict : verdicts) {
    text += fmt::format("{} {}: wanted {}; got {}\n", verdict.met ? "met  " : "UNMET", verdict.key,
                        verdict.wanted, verdict.got);
  }
  return text;
}

}  // namespace sim::experiment

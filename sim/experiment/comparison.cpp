// sim/experiment/comparison.cpp: see comparison.h.
#include "sim/experiment/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>

#include "sim/experiment/comparison_accounts.h"
#include "sim/chaos/fault_schema.h"
#include "sim/experiment/figure.h"
#include "sim/experiment/run_findings.h"

namespace sim::experiment {
namespace {

// What one arm did on every seed.
struct ArmRuns {
  std::size_t arm;
  std::vector<const FinishedRun*> runs;  // by ascending seed
};

std::vector<ArmRuns> by_arm(const std::vector<FinishedRun>& runs) {
  std::vector<ArmRuns> arms;
  for (const FinishedRun& run : runs) {
    auto entry = std::ranges::find(arms, run.arm, &ArmRuns::arm);
    if (entry == arms.end()) entry = arms.insert(arms.end(), {run.arm, {}});
    entry->runs.push_back(&run);
  }
  std::ranges::sort(arms, {}, &ArmRuns::arm);
  for (ArmRuns& arm : arms) std::ranges::sort(arm.runs, {}, &FinishedRun::seed);
  return arms;
}

std::vector<std::uint64_t> seeds_of(const std::vector<ArmRuns>& arms) {
  std::vector<std::uint64_t> seeds;
  for (const FinishedRun* run : arms.front().runs) seeds.push_back(run->seed);
  for (const ArmRuns& arm : arms) {
    if (!std::ranges::equal(arm.runs, seeds, {}, &FinishedRun::seed)) {
      throw std::invalid_argument("arms can only be compared on the same seeds");
    }
  }
  return seeds;
}

std::string clock_of(const scenario::Arm& arm) {
  std::set<std::string> names;
  for (const chaos::FailureOptions& failure : arm.failures) {
    names.insert(std::string(chaos::clock_name(failure.clock)));
  }
  const bool recorded = std::ranges::any_of(
      arm.faults, [](const chaos::FaultOptions& fault) { return !fault.scripted; });
  if (names.empty()) return recorded ? "recorded faults" : "no failures";
  return fmt::format("{}", fmt::join(names.rbegin(), names.rend(), " and "));
}

// The run synchronized learners at all, whether or not any round came to a merge.
bool has_merges(const FinishedRun& run) {
  if (figure_at(run.summary, "participation")) return true;
  return std::ranges::any_of(
      std::array{"syncs.rounds", "syncs.skipped", "syncs.lost"},
      [&run](const char* key) { return figure_at(run.summary, key).value_or(0.0) > 0.0; });
}

std::vector<double> values_of(const ArmRuns& arm, const Measure& measure) {
  std::vector<double> values;
  if (measure.key == "recoveries.back_in_merges" &&
      std::ranges::none_of(arm.runs, [](const FinishedRun* run) { return has_merges(*run); })) {
    return values;  // back in nothing: does not apply
  }
  for (const FinishedRun* run : arm.runs) {
    if (const auto figure = figure_of(measure, run->summary)) values.push_back(*figure);
  }
  return values;
}

bool any_has(const std::vector<ArmRuns>& arms, const char* key, double above) {
  return std::ranges::any_of(arms, [&](const ArmRuns& arm) {
    return std::ranges::any_of(arm.runs, [&](const FinishedRun* run) {
      return figure_at(run->summary, key).value_or(above) > above;
    });
  });
}

// Seeds without the figure count as infinity.
double median_of(const ArmRuns& arm, std::vector<double> values) {
  values.resize(arm.runs.size(), std::numeric_limits<double>::infinity());
  return median(values);
}

// The mean distance of a loss from its floor is below that distance's standard deviation over seeds. Each
// seed has its own floor where the task is drawn by it, so loss and floor are paired.
bool is_saturated(const ArmRuns& arm, const std::string& key) {
  std::vector<double> above;
  for (const FinishedRun* run : arm.runs) {
    const auto loss = figure_at(run->summary, key), floor = figure_at(run->summary, "loss.floor");
    if (!loss || !floor) return false;
    above.push_back(*loss - *floor);
  }
  return above.size() > 1 && estimate(above).mean < standard_deviation(above);
}

ComparisonRow row_of(const Measure& measure, const std::vector<ArmRuns>& arms,
                     std::size_t reference) {
  ComparisonRow row = {measure, {}};
  std::vector<std::vector<double>> values;
  for (const ArmRuns& arm : arms) values.push_back(values_of(arm, measure));
  bool comparable = true;
  for (std::size_t i = 0; i < arms.size(); ++i) {
    ComparisonCell cell = {std::nullopt, values[i].size(), std::nullopt, false};
    const bool whole = values[i].size() == arms[i].runs.size();
    if (whole) cell.value = estimate(values[i]);
    if (whole && i != reference && values[reference].size() == values[i].size()) {
      cell.difference = paired_difference(values[i], values[reference]);
    }
    if (measure.is_target) cell.median = median_of(arms[i], values[i]);
    cell.saturated = measure.key.ends_with("loss") && is_saturated(arms[i], measure.key);
    comparable = comparable && whole;
    row.cells.push_back(cell);
  }
  if (comparable && measure.wish != Wish::kNone) {
    const Better better = measure.wish == Wish::kLarger ? Better::kLarger : Better::kSmaller;
    if (const auto best = best_arm(values, better)) row.cells[*best].best = true;
  }
  return row;
}

bool any_arm_relative(const ArmRuns& arm) {
  return std::ranges::any_of(arm.runs, [](const FinishedRun* run) {
    return figure_at(run->summary, "faults_met_arm_relative").value_or(0.0) > 0.0;
  });
}

// A mark that nobody reached is a result; a measure that applies to nobody (losses without
// mathematics, participation and returns without merges, no arm-relative fault) is not.
bool is_wanted(const ComparisonRow& row, const std::vector<ArmRuns>& arms) {
  const std::string& key = row.measure.key;
  if (key == "faults_met_arm_relative") return std::ranges::any_of(arms, any_arm_relative);
  if (key.starts_with("wan.")) return any_has(arms, "wan.bytes", 0.0);
  if (key.starts_with("marks.") && key.ends_with(".at_s")) return true;
  if (key.starts_with("marks.") && key.ends_with(".loss")) {
    return any_has(arms, "loss.initial", -std::numeric_limits<double>::infinity());
  }
  return std::ranges::any_of(row.cells,
                             [](const ComparisonCell& cell) { return cell.reached > 0; });
}

// "0.2 of its watts; ...", out of any run's summary: it is the same in all.
std::string power_in_words(const nlohmann::ordered_json& summary) {
  const auto figure = [&summary](const char* key) {
    return figure_at(summary, std::string("energy.") + key).value_or(0.0);
  };
  if (!figure_at(summary, "energy_kwh")) return "";
  const bool assumed = summary["energy"]["watts_assumed"].get<bool>();
  return fmt::format("a chip whose job waits draws {:.6g} of its watts (bounds {:.6g} and {:.6g}, assumed)"
                     ", PUE {:.6g}{}", figure("stall_share"), figure("stall_share_low"),
                     figure("stall_share_high"), figure("pue"),
                     assumed ? "; watts of some chips are assumed" : "");
}

std::string text_at(const nlohmann::ordered_json& summary, const char* key) {
  const auto found = summary.find(key);
  return found != summary.end() && found->is_string() ? found->get<std::string>() : "";
}

// "saturated at 6 h: a, b" for every loss that is.
void add_saturation_notes(Comparison& comparison) {
  for (const ComparisonRow& row : comparison.rows) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      if (row.cells[i].saturated) names.push_back(comparison.arms[i]);
    }
    if (names.empty()) continue;
    comparison.notes.push_back(fmt::format("saturated: {}, less its floor, is below that difference's seed noise: {}",
                                           row.measure.title, fmt::join(names, ", ")));
  }
}

// Where the chips' time went, in percent of it all: "93 % of the time in waiting_for_repair".
std::string largest_bucket(const ArmRuns& arm) {
  std::map<std::string, double> buckets;
  double total = 0.0;
  for (const FinishedRun* run : arm.runs) {
    const auto activity = run->summary.find("activity_chip_seconds");
    if (activity == run->summary.end()) continue;
    for (const auto& [name, chip_seconds] : activity->items()) {
      buckets[name] += chip_seconds.get<double>();
      total += chip_seconds.get<double>();
    }
  }
  if (total <= 0.0) return {};
  const auto largest = std::ranges::max_element(buckets, {}, [](const auto& b) { return b.second; });
  return fmt::format("{:.0f} % of the time in {}", 100.0 * largest->second / total, largest->first);
}

// A goodput of 0 on every seed is a value, and comes with its reason (law 10); else "".
std::string standstill_note(const ArmRuns& arm, const std::string& name) {
  const bool stands_still = std::ranges::all_of(arm.runs, [](const FinishedRun* run) {
    return figure_at(run->summary, "goodput.stepping") == 0.0;
  });
  const std::string reason = stands_still ? largest_bucket(arm) : "";
  return reason.empty() ? "" : fmt::format("{}: no step counted; chips spent {}", name, reason);
}

}  // namespace

Comparison compare(const scenario::Scenario& scenario, const std::vector<FinishedRun>& runs,
                   std::optional<std::size_t> reference) {
  if (runs.empty()) throw std::invalid_argument("a comparison needs at least one run");
  const std::vector<ArmRuns> arms = by_arm(runs);
  const auto against = reference ? std::ranges::find(arms, *reference, &ArmRuns::arm) : arms.begin();
  if (against == arms.end()) throw std::invalid_argument("the reference arm was not run");
  Comparison comparison;
  comparison.scenario = scenario.name;
  comparison.version = text_at(runs.front().summary, "version");
  comparison.isa_level = text_at(runs.front().summary, "isa_level");
  comparison.marks = marks_in_words(scenario.marks);
  comparison.power = power_in_words(runs.front().summary);
  comparison.reference = static_cast<std::size_t>(against - arms.begin());
  comparison.seeds = seeds_of(arms);
  for (const ArmRuns& arm : arms) {
    comparison.arms.push_back(scenario.arms[arm.arm].training.name);
    comparison.clocks.push_back(clock_of(scenario.arms[arm.arm]));
  }
  if (std::ranges::any_of(arms, any_arm_relative)) {
    comparison.notes.push_back(
        "faults that are arm-relative strike where an arm's own learners step or its syncers stand");
  }
  std::vector<Measure> list = measures(scenario);
  for (Measure& measure : account_measures(runs)) list.push_back(std::move(measure));
  for (const Measure& measure : list) {
    ComparisonRow row = row_of(measure, arms, comparison.reference);
    if (is_wanted(row, arms)) comparison.rows.push_back(std::move(row));
  }
  for (const auto& lines : {findings_of(scenario, runs), long_recoveries_of(scenario, runs)}) {
    comparison.notes.insert(comparison.notes.end(), lines.begin(), lines.end());
  }
  for (const ArmRuns& arm : arms) {
    const std::string note = standstill_note(arm, scenario.arms[arm.arm].training.name);
    if (!note.empty()) comparison.notes.push_back(note);
  }
  add_saturation_notes(comparison);
  if (const std::string note = seed_note(comparison.seeds.size()); !note.empty()) {
    comparison.notes.push_back(note);
  }
  return comparison;
}

}  // namespace sim::experiment

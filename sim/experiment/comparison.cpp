// sim/experiment/comparison.cpp: see comparison.h.
#include "sim/experiment/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <stdexcept>

#include "sim/experiment/figure.h"

namespace sim::experiment {
namespace {

enum class Wish { kNone, kLarger, kSmaller };

struct Measure {
  std::string key, title;
  int decimals;
  Wish wish;
  bool shows_difference;
};

// What one arm did on every seed.
struct ArmRuns {
  std::size_t arm;
  std::vector<const FinishedRun*> runs;  // by ascending seed
};

// In the largest unit that leaves at least two: "6 h", "90 min".
std::string in_words(base::Nanoseconds time) {
  const double seconds = base::to_seconds(time);
  if (time >= 2 * base::kHour) return fmt::format("{:.6g} h", seconds / 3600.0);
  if (time >= 2 * base::kMinute) return fmt::format("{:.6g} min", seconds / 60.0);
  return fmt::format("{:.6g} s", seconds);
}

std::vector<Measure> measures(const scenario::MarkOptions& marks) {
  std::vector<Measure> list = {
      {"goodput.time", "goodput.time", 4, Wish::kLarger, true},
      {"goodput.stepping", "goodput.stepping", 4, Wish::kLarger, true},
      {"goodput.chip", "goodput.chip", 4, Wish::kLarger, false},
      {"goodput.token", "goodput.token", 4, Wish::kLarger, false},
      {"uptime", "uptime", 4, Wish::kLarger, false},
      {"compute_utilization", "compute utilization", 4, Wish::kLarger, false},
      {"participation", "participation in merges", 4, Wish::kNone, false},
      {"step_median_s", "median step time (s)", 4, Wish::kSmaller, false},
      {"wan.mean_gbps", "WAN mean (Gbit/s)", 4, Wish::kSmaller, false},
      {"wan.peak_gbps", "WAN peak (Gbit/s)", 4, Wish::kSmaller, false},
      {"wan.bytes_per_token", "WAN bytes per token", -1, Wish::kSmaller, false},
      {"steps", "steps", -1, Wish::kNone, false},
      {"tokens", "tokens", -1, Wish::kNone, false},
  };
  if (marks.time > 0) {
    const std::string date = in_words(marks.time);
    list.push_back({"marks.time.loss", fmt::format("loss at {}", date), 4, Wish::kSmaller, true});
    list.push_back(
        {"marks.time.tokens", fmt::format("tokens at {}", date), -1, Wish::kLarger, false});
  }
  if (marks.tokens > 0.0) {
    list.push_back({"marks.tokens.loss", fmt::format("loss at {:.6g} tokens", marks.tokens), 4,
                    Wish::kSmaller, true});
    list.push_back({"marks.tokens.at_s", fmt::format("time to {:.6g} tokens (s)", marks.tokens), 1,
                    Wish::kSmaller, false});
  }
  list.push_back({"loss.final", "loss at the end", 4, Wish::kNone, false});
  list.push_back({"faults_met", "faults met", -1, Wish::kNone, false});
  list.push_back({"faults_met_arm_relative", "faults met, arm-relative", -1, Wish::kNone, false});
  list.push_back({"recoveries.lives", "recovered lives", -1, Wish::kNone, false});
  list.push_back({"recoveries.back_in_merges", "  of these back in merges", -1, Wish::kNone, false});
  list.push_back({"duration_s", "duration (s)", 1, Wish::kNone, false});
  return list;
}

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
    names.insert(failure.clock == chaos::Clock::kWall ? "wall" : "stepping");
  }
  const bool recorded = std::ranges::any_of(
      arm.faults, [](const chaos::FaultOptions& fault) { return !fault.scripted; });
  if (names.empty()) return recorded ? "recorded faults" : "no failures";
  return names.size() == 2 ? "wall and stepping" : *names.begin();
}

// The run synchronized learners at all, whether or not any round came to a merge.
bool has_merges(const FinishedRun& run) {
  if (figure_at(run.summary, "participation")) return true;
  return std::ranges::any_of(
      std::array{"syncs.rounds", "syncs.skipped", "syncs.lost"},
      [&run](const char* key) { return figure_at(run.summary, key).value_or(0.0) > 0.0; });
}

std::vector<double> values_of(const ArmRuns& arm, const std::string& key) {
  std::vector<double> values;
  if (key == "recoveries.back_in_merges" &&
      std::ranges::none_of(arm.runs, [](const FinishedRun* run) { return has_merges(*run); })) {
    return values;  // back in nothing: does not apply
  }
  for (const FinishedRun* run : arm.runs) {
    if (const auto figure = figure_at(run->summary, key)) values.push_back(*figure);
  }
  return values;
}

ComparisonRow row_of(const Measure& measure, const std::vector<ArmRuns>& arms) {
  ComparisonRow row = {measure.key, measure.title, measure.decimals, measure.shows_difference, {}};
  std::vector<std::vector<double>> values;
  for (const ArmRuns& arm : arms) values.push_back(values_of(arm, measure.key));
  bool comparable = true;
  for (std::size_t i = 0; i < arms.size(); ++i) {
    ComparisonCell cell = {std::nullopt, values[i].size(), std::nullopt, false};
    const bool whole = values[i].size() == arms[i].runs.size();
    if (whole) cell.value = estimate(values[i]);
    if (whole && i > 0 && values[0].size() == values[i].size()) {
      cell.difference = paired_difference(values[i], values[0]);
    }
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
  if (row.key == "faults_met_arm_relative") return std::ranges::any_of(arms, any_arm_relative);
  if (row.key.starts_with("wan.")) {
    return std::ranges::any_of(arms, [](const ArmRuns& arm) {
      return std::ranges::any_of(values_of(arm, "wan.bytes"), [](double b) { return b > 0; });
    });
  }
  if (row.key == "marks.tokens.at_s") return true;
  if (row.key == "marks.tokens.loss") {
    return std::ranges::any_of(arms, [](const ArmRuns& arm) {
      return !values_of(arm, "loss.initial").empty();
    });
  }
  return std::ranges::any_of(row.cells,
                             [](const ComparisonCell& cell) { return cell.reached > 0; });
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

Comparison compare(const scenario::Scenario& scenario, const std::vector<FinishedRun>& runs) {
  if (runs.empty()) throw std::invalid_argument("a comparison needs at least one run");
  const std::vector<ArmRuns> arms = by_arm(runs);
  Comparison comparison;
  comparison.scenario = scenario.name;
  comparison.seeds = seeds_of(arms);
  for (const ArmRuns& arm : arms) {
    comparison.arms.push_back(scenario.arms[arm.arm].training.name);
    comparison.clocks.push_back(clock_of(scenario.arms[arm.arm]));
  }
  if (std::ranges::any_of(arms, any_arm_relative)) {
    comparison.notes.push_back(
        "faults that are arm-relative strike where an arm's own learners step or its syncers stand");
  }
  for (const Measure& measure : measures(scenario.marks)) {
    ComparisonRow row = row_of(measure, arms);
    if (is_wanted(row, arms)) comparison.rows.push_back(std::move(row));
  }
  for (const ArmRuns& arm : arms) {
    const std::string note = standstill_note(arm, scenario.arms[arm.arm].training.name);
    if (!note.empty()) comparison.notes.push_back(note);
  }
  if (const std::string note = seed_note(comparison.seeds.size()); !note.empty()) {
    comparison.notes.push_back(note);
  }
  return comparison;
}

}  // namespace sim::experiment

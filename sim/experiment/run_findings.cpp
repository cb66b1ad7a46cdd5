// sim/experiment/run_findings.cpp: see run_findings.h.
#include "sim/experiment/run_findings.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/experiment/figure.h"

namespace sim::experiment {
namespace {

using nlohmann::ordered_json;

// A text as it is, anything else as it stands in the file.
std::string words_of(const ordered_json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

const ordered_json* list_at(const ordered_json& summary, const char* key) {
  const auto found = summary.find(key);
  return found != summary.end() && found->is_array() ? &*found : nullptr;
}

std::string standstill_text(const ordered_json& entry) {
  const auto part = [&entry](const char* key) {
    const auto found = entry.find(key);
    return found == entry.end() ? std::string("?") : words_of(*found);
  };
  const double since_s = figure_at(entry, "since_s").value_or(0.0);
  return fmt::format("{} is in no merge since {:.6g} s although nothing fails: waits for {}", part("who"),
                     since_s, part("waits_for"));
}

std::string seeds_text(const std::vector<std::uint64_t>& seeds) {
  return fmt::format("{} {}", seeds.size() == 1 ? "seed" : "seeds", fmt::join(seeds, ", "));
}

}  // namespace

std::optional<std::string> divergence_in(const ordered_json& summary) {
  const auto at_s = figure_at(summary, "diverged.at_s"), step = figure_at(summary, "diverged.step");
  if (!at_s) return std::nullopt;
  return step ? fmt::format("diverged at {:.10g} s, step {:.0f}", *at_s, *step)
              : fmt::format("diverged at {:.10g} s", *at_s);
}

std::vector<std::string> standstills_in(const ordered_json& summary) {
  std::vector<std::string> lines;
  if (const ordered_json* list = list_at(summary, "liveness")) {
    for (const ordered_json& entry : *list) lines.push_back(standstill_text(entry));
  }
  return lines;
}

// H stands in the sentence, so that a reader need not look it up.
std::optional<std::string> long_recoveries_in(const ordered_json& summary) {
  const double count = figure_at(summary, "recoveries.beyond_bound").value_or(0.0);
  if (count == 0.0) return std::nullopt;
  return fmt::format("{:.0f} {} longer than H = {:.0f} steps; the longest {:.1f}", count,
                     count == 1.0 ? "recovery took" : "recoveries took",
                     figure_at(summary, "recoveries.bound_steps").value_or(0.0),
                     figure_at(summary, "recoveries.longest_steps").value_or(0.0));
}

std::vector<std::string> findings_in(const ordered_json& summary) {
  std::vector<std::string> lines;
  if (const auto diverged = divergence_in(summary)) lines.push_back(*diverged);
  const std::vector<std::string> standstills = standstills_in(summary);
  lines.insert(lines.end(), standstills.begin(), standstills.end());
  if (const auto recoveries = long_recoveries_in(summary)) lines.push_back(*recoveries);
  if (const ordered_json* list = list_at(summary, "faults_never_met")) {
    for (const ordered_json& fault : *list) {
      lines.push_back(fmt::format("never met the scripted fault {}", words_of(fault)));
    }
  }
  return lines;
}

std::vector<std::string> findings_of(const scenario::Scenario& scenario,
                                     const std::vector<FinishedRun>& runs) {
  struct Told {
    std::size_t arm;
    std::string text;
    std::vector<std::uint64_t> seeds;
  };
  std::vector<Told> told;
  for (const FinishedRun& run : runs) {
    for (const std::string& text : findings_in(run.summary)) {
      auto same = std::ranges::find_if(
          told, [&](const Told& other) { return other.arm == run.arm && other.text == text; });
      if (same == told.end()) same = told.insert(told.end(), {run.arm, text, {}});
      same->seeds.push_back(run.seed);
    }
  }
  std::ranges::stable_sort(told, {}, &Told::arm);
  std::vector<std::string> lines;
  for (const Told& one : told) {
    lines.push_back(fmt::format("{}: {} ({})", scenario.arms[one.arm].training.name, one.text,
                                seeds_text(one.seeds)));
  }
  return lines;
}

}  // namespace sim::experiment

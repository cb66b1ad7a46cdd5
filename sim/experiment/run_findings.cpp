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
  if (const auto until_s = figure_at(entry, "until_s")) {
    return fmt::format("{} was in no merge from {:.6g} to {:.6g} s, longer than faults explain: waited for {}",
                       part("who"), since_s, *until_s, part("waits_for"));
  }
  return fmt::format("{} is in no merge since {:.6g} s, longer than faults explain: waits for {}", part("who"),
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

namespace {

std::vector<std::string> findings_in(const ordered_json& summary) {
  std::vector<std::string> lines;
  if (const auto diverged = divergence_in(summary)) lines.push_back(*diverged);
  const std::vector<std::string> standstills = standstills_in(summary);
  lines.insert(lines.end(), standstills.begin(), standstills.end());
  if (const ordered_json* list = list_at(summary, "faults_never_met")) {
    for (const ordered_json& fault : *list) {
      lines.push_back(fmt::format("never met {}", words_of(fault)));
    }
  }
  return lines;
}

// One line for all seeds of an arm; "" where no recovery was longer. H stands in the sentence, so that a
// reader need not look it up.
std::string long_recoveries(std::size_t arm, const std::vector<FinishedRun>& runs) {
  double count = 0.0, longest = 0.0, bound = 0.0;
  std::vector<std::uint64_t> seeds;
  for (const FinishedRun& run : runs) {
    const double beyond = figure_at(run.summary, "recoveries.beyond_bound").value_or(0.0);
    if (run.arm != arm || beyond == 0.0) continue;
    count += beyond;
    longest = std::max(longest, figure_at(run.summary, "recoveries.longest_steps").value_or(0.0));
    bound = figure_at(run.summary, "recoveries.bound_steps").value_or(0.0);
    seeds.push_back(run.seed);
  }
  if (seeds.empty()) return "";
  return fmt::format("{:.0f} {} longer than H = {:.0f} steps, at most {:.1f} ({})", count,
                     count == 1.0 ? "recovery took" : "recoveries took", bound, longest, seeds_text(seeds));
}

}  // namespace

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
  std::vector<std::string> lines;
  for (std::size_t arm = 0; arm < scenario.arms.size(); ++arm) {
    const std::string& name = scenario.arms[arm].training.name;
    for (const Told& one : told) {
      if (one.arm != arm) continue;
      lines.push_back(fmt::format("{}: {} ({})", name, one.text, seeds_text(one.seeds)));
    }
  }
  return lines;
}

std::vector<std::string> long_recoveries_of(const scenario::Scenario& scenario,
                                            const std::vector<FinishedRun>& runs) {
  std::vector<std::string> lines;
  for (std::size_t arm = 0; arm < scenario.arms.size(); ++arm) {
    const std::string text = long_recoveries(arm, runs);
    if (!text.empty()) lines.push_back(scenario.arms[arm].training.name + ": " + text);
  }
  return lines;
}

}  // namespace sim::experiment

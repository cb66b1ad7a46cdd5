// sim/experiment/comparison_accounts.cpp: see comparison_accounts.h.
#include "sim/experiment/comparison_accounts.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "sim/experiment/figure.h"

namespace sim::experiment {
namespace {

// Counters that say what went well, and sums of others that are printed by reason.
constexpr std::array<std::string_view, 8> kExplainNothing = {
    "syncs.merged", "syncs.contributions", "syncs.rounds", "syncs.due",
    "syncs.in_time", "syncs.lone", "syncs.skipped", "syncs.lost"};

// Paths of numbers below `path`, in the order of the first summary that has them.
void add_paths(const nlohmann::ordered_json& tree, const std::string& path,
               std::vector<std::string>& paths) {
  if (tree.is_object()) {
    for (const auto& [key, inner] : tree.items()) add_paths(inner, path + "." + key, paths);
  } else if (tree.is_number() && std::ranges::count(paths, path) == 0) {
    paths.push_back(path);
  }
}

bool is_zero_everywhere(const std::string& path, const std::vector<FinishedRun>& runs) {
  return std::ranges::all_of(runs, [&path](const FinishedRun& run) {
    return figure_at(run.summary, path).value_or(0.0) == 0.0;
  });
}

// "skipped_by_reason.in_flight_limit" -> "skipped: in flight limit".
std::string in_words(std::string path) {
  constexpr std::string_view kReason = "_by_reason.";
  if (const std::size_t at = path.find(kReason); at != std::string::npos) {
    path.replace(at, kReason.size(), ": ");
  }
  if (const std::size_t dot = path.find('.'); dot != std::string::npos) path.replace(dot, 1, ": ");
  std::ranges::replace(path, '_', ' ');
  return path;
}

void add_account(const char* account, const std::string& heading, const std::string& unit,
                 const std::vector<FinishedRun>& runs, std::vector<Measure>& list) {
  std::vector<std::string> paths;
  for (const FinishedRun& run : runs) {
    const auto found = run.summary.find(account);
    if (found != run.summary.end()) add_paths(*found, account, paths);
  }
  for (const std::string& path : paths) {
    if (std::ranges::count(kExplainNothing, path) > 0 || is_zero_everywhere(path, runs)) continue;
    const std::string words = in_words(path.substr(std::string(account).size() + 1));
    list.push_back({heading, path, words + unit, words, -1, Wish::kNone, false});
  }
}

}  // namespace

std::vector<Measure> account_measures(const std::vector<FinishedRun>& runs) {
  std::vector<Measure> list;
  add_account("token_account", "Where the tokens of the whole run went", " (tokens)", runs, list);
  add_account("syncs", "What kept tokens out of merges in the whole run", "", runs, list);
  return list;
}

}  // namespace sim::experiment

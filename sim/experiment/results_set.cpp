// sim/experiment/results_set.cpp: see results_set.h.
#include "sim/experiment/results_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

namespace sim::experiment {
namespace {

namespace fs = std::filesystem;

struct HeldRun {
  std::string path;  // below the folder
  std::string set_hash, version;  // "" where its summary says none
};

std::string text_at(const nlohmann::json& summary, const char* key) {
  const auto found = summary.is_object() ? summary.find(key) : summary.end();
  return found != summary.end() && found->is_string() ? found->get<std::string>() : "";
}

// By path. What is being written is hidden, and is no run yet.
std::vector<HeldRun> runs_below(const fs::path& folder) {
  std::vector<HeldRun> runs;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.starts_with(".")) entry.disable_recursion_pending();
    if (!name.starts_with("seed-")) continue;
    std::ifstream file(entry->path() / "summary.json", std::ios::binary);
    if (!file) continue;
    const auto summary = nlohmann::json::parse(file, nullptr, false);
    runs.push_back({entry->path().lexically_relative(folder).generic_string(),
                    text_at(summary, "set_hash"), text_at(summary, "version")});
  }
  std::ranges::sort(runs, {}, &HeldRun::path);
  return runs;
}

FolderTrouble refusal(const std::string& folder, const std::string& what) {
  return {FolderTrouble::Kind::kHoldsAnother,
          fmt::format("{}: error: {}\n  hint: --force removes all of its runs first, --results DIR writes "
                      "elsewhere",
                      folder, what)};
}

}  // namespace

std::optional<FolderTrouble> ResultsSet::open(const std::string& set_hash, const std::string& version,
                                              const std::vector<std::string>& runs,
                                              Overwrite overwrite) {
  const std::vector<HeldRun> held = runs_below(folder_);
  const auto stays = [&runs](const HeldRun& run) { return std::ranges::count(runs, run.path) == 0; };
  const auto other_set = std::ranges::find_if(
      held, [&](const HeldRun& run) { return run.set_hash != set_hash; });
  const auto other_version = std::ranges::find_if(
      held, [&](const HeldRun& run) { return run.version != version; });
  const auto left = std::ranges::find_if(held, stays);
  const bool adds_only = std::ranges::all_of(held, stays);
  std::string what;
  if (other_set != held.end()) {
    what = fmt::format("holds another scenario's results: {}", other_set->path);
  } else if (left != held.end() && other_version != held.end()) {
    what = fmt::format("holds results of version {}: {}", other_version->version, other_version->path);
  } else if (left != held.end() && !adds_only) {
    what = fmt::format("holds more runs of this scenario than are written anew: {}", left->path);
  }
  if (!what.empty() && overwrite != Overwrite::kForce) return refusal(folder_, what);
  if (what.empty() && other_version == held.end()) return std::nullopt;
  for (const HeldRun& run : held) old_.push_back(run.path);
  return std::nullopt;
}

std::optional<FolderTrouble> ResultsSet::remove_old() {
  for (const std::string& run : std::exchange(old_, {})) {
    const fs::path path = fs::path(folder_) / run;
    std::error_code error;
    fs::remove_all(path, error);
    if (error) {
      return FolderTrouble{FolderTrouble::Kind::kFileSystem,
                           fmt::format("{}: error: cannot be removed: {}", path.string(), error.message())};
    }
    std::error_code not_empty;  // an arm's folder that holds something else stays
    fs::remove(path.parent_path(), not_empty);
  }
  return std::nullopt;
}

}  // namespace sim::experiment

// sim/cli/replay_settings.cpp: see replay_settings.h.
#include "sim/cli/replay_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace sim::cli {
namespace {

// Of [training]; all of [learning] but what shaped the tape.
constexpr std::string_view kParts[] = {"inner", "outer", "merge", "mixing"};

// The key's first part, and the rest.
std::string_view first_part(std::string_view key) { return key.substr(0, key.find('.')); }
std::string_view after_first(std::string_view key) {
  const std::size_t dot = key.find('.');
  return dot == std::string_view::npos ? std::string_view() : key.substr(dot + 1);
}

bool is_of_training(std::string_view key) {
  return std::ranges::find(kParts, first_part(key)) != std::end(kParts);
}

}  // namespace

std::vector<std::string> replay_settings(const std::vector<std::string>& sets,
                                         base::Problems& problems) {
  std::vector<std::string> allowed;
  for (const std::string& set : sets) {
    const std::string_view key = std::string_view(set).substr(0, set.find('='));
    const base::Place place{"--set " + set, {}, std::string(key)};
    if (key == "learning.evaluations") {
      problems.add(place, "is fixed by the tape, which says when to evaluate",
                   "record the run again with it");
    } else if (first_part(key) == "learning") {
      allowed.push_back(set);
    } else if (first_part(key) == "training" && is_of_training(after_first(key))) {
      allowed.push_back(set);
    } else if (is_of_training(key)) {
      allowed.push_back("training." + set);
    } else {
      problems.add(place, "is fixed by the tape",
                   "a replay may change learning, inner, outer, merge and mixing; for the rest record "
                   "the run again");
    }
  }
  return allowed;
}

}  // namespace sim::cli

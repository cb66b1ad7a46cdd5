// sim/experiment/scenario_changes.cpp: see scenario_changes.h.
#include "sim/experiment/scenario_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "sim/scenario/parse.h"

namespace sim::experiment {
namespace {

using base::Value;

void collect(const Value& value, const std::string& path, std::map<std::string, std::string>& leaves) {
  const bool tables = value.kind == Value::Kind::kList && !value.items.empty() &&
                      value.items[0].kind == Value::Kind::kTable;
  if (value.kind == Value::Kind::kTable) {
    for (const base::Entry& entry : value.entries) {
      collect(entry.value, path.empty() ? entry.key : path + "." + entry.key, leaves);
    }
  } else if (tables) {
    for (std::size_t i = 0; i < value.items.size(); ++i) {
      collect(value.items[i], fmt::format("{}[{}]", path, i), leaves);
    }
  } else {
    leaves[path] = base::to_toml(value);
  }
}

std::map<std::string, std::string> leaves_of(const std::string& text) {
  base::Problems ignored;
  std::map<std::string, std::string> leaves;
  collect(scenario::parse_toml(text, "", ignored), "", leaves);
  return leaves;
}

}  // namespace

std::vector<ScenarioChange> scenario_changes(const std::string& was, const std::string& now) {
  const auto before = leaves_of(was), after = leaves_of(now);
  std::map<std::string, ScenarioChange> changes;
  for (const auto& [key, text] : before) changes[key] = {key, text, ""};
  for (const auto& [key, text] : after) {
    ScenarioChange& change = changes[key];
    change.key = key;
    change.now = text;
  }
  std::vector<ScenarioChange> result;
  for (auto& [key, change] : changes) {
    if (change.was != change.now) result.push_back(std::move(change));
  }
  return result;
}

bool moves_streams(const ScenarioChange& change) {
  constexpr std::array<std::string_view, 5> kSections = {"island", "failure", "fault", "spread", "region"};
  std::string_view key = change.key;
  if (key.starts_with("arm[")) key.remove_prefix(std::min(key.size(), key.find("].") + 2));
  return std::ranges::any_of(kSections, [&](std::string_view section) { return key.starts_with(section); });
}

}  // namespace sim::experiment

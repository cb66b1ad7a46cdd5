// sim/experiment/scenario_changes.cpp: see scenario_changes.h.
#include "sim/experiment/scenario_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "sim/scenario/parse.h"

namespace sim::experiment {
namespace {

using base::Value;
using Kind = ScenarioChange::Kind;

struct Flat {
  std::map<std::string, std::string> leaves;  // key -> TOML
  std::vector<std::string> elements;          // of lists of tables: "arm.elastic"
};

bool holds_tables(const Value& value) {
  return value.kind == Value::Kind::kList && !value.items.empty() && value.items[0].kind == Value::Kind::kTable;
}

// What the elements go by: the same for all of them, or nothing.
std::optional<std::vector<std::string>> names_of(const std::vector<Value>& items, std::string_view key) {
  std::vector<std::string> names;
  for (const Value& item : items) {
    const Value* const name = item.find(key);
    if (name == nullptr || name->kind != Value::Kind::kText || name->text.empty()) return std::nullopt;
    if (std::ranges::count(names, name->text) > 0) return std::nullopt;
    names.push_back(name->text);
  }
  return names;
}

void collect(const Value& value, const std::string& path, Flat& flat);

void collect_elements(const std::vector<Value>& items, const std::string& path, Flat& flat) {
  auto names = names_of(items, "name");
  if (!names) names = names_of(items, "key");
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string element =
        names ? path + "." + base::key_to_toml((*names)[i]) : fmt::format("{}[{}]", path, i);
    flat.elements.push_back(element);
    collect(items[i], element, flat);
  }
}

void collect(const Value& value, const std::string& path, Flat& flat) {
  if (value.kind == Value::Kind::kTable) {
    for (const base::Entry& entry : value.entries) {
      const std::string key = base::key_to_toml(entry.key);
      collect(entry.value, path.empty() ? key : path + "." + key, flat);
    }
  } else if (holds_tables(value)) {
    collect_elements(value.items, path, flat);
  } else {
    flat.leaves[path] = base::to_toml(value);
  }
}

Flat flat_of(const std::string& text) {
  base::Problems ignored;
  Flat flat;
  collect(scenario::parse_toml(text, "", ignored), "", flat);
  return flat;
}

bool is_below(std::string_view key, std::string_view element) {
  return key.size() > element.size() && key.starts_with(element) &&
         (key[element.size()] == '.' || key[element.size()] == '[');
}

// Elements of `from` that `to` has not; their own keys then say nothing more.
std::vector<std::string> take_elements_missing(Flat& from, const Flat& to) {
  std::vector<std::string> missing;
  for (const std::string& element : from.elements) {
    if (std::ranges::count(to.elements, element) > 0) continue;
    if (std::ranges::any_of(missing, [&](const std::string& outer) { return is_below(element, outer); })) continue;
    std::erase_if(from.leaves, [&](const auto& leaf) { return is_below(leaf.first, element); });
    missing.push_back(element);
  }
  return missing;
}

int section_of(std::string_view key) {
  return key.starts_with("arm.") || key.starts_with("arm[") ? 1 : key.starts_with("sweep.") ? 2 : 0;
}

}  // namespace

std::string as_line(const ScenarioChange& change) {
  if (change.kind == Kind::kAdded) return change.key + ": added";
  if (change.kind == Kind::kRemoved) return change.key + ": removed";
  const auto shown = [](const std::string& value) { return value.empty() ? std::string("(none)") : value; };
  return fmt::format("{}: {} -> {}", change.key, shown(change.was), shown(change.now));
}

std::vector<ScenarioChange> scenario_changes(const std::string& was, const std::string& now) {
  Flat before = flat_of(was), after = flat_of(now);
  std::vector<ScenarioChange> result;
  for (const std::string& element : take_elements_missing(before, after)) {
    result.push_back({Kind::kRemoved, element, "", ""});
  }
  for (const std::string& element : take_elements_missing(after, before)) {
    result.push_back({Kind::kAdded, element, "", ""});
  }
  std::map<std::string, std::pair<std::string, std::string>> values;
  for (const auto& [key, text] : before.leaves) values[key].first = text;
  for (const auto& [key, text] : after.leaves) values[key].second = text;
  for (const auto& [key, pair] : values) {
    if (pair.first != pair.second) result.push_back({Kind::kValue, key, pair.first, pair.second});
  }
  std::ranges::stable_sort(result, [](const ScenarioChange& a, const ScenarioChange& b) {
    return std::pair(section_of(a.key), a.key) < std::pair(section_of(b.key), b.key);
  });
  return result;
}

bool moves_streams(const ScenarioChange& change) {
  constexpr std::array<std::string_view, 4> kLists = {"failure", "island", "region", "link"};
  // "island.west.slices": slices and islands of a count are numbered in their names.
  constexpr std::array<std::string_view, 3> kNaming = {".target", ".slices", ".count"};
  const std::string_view key = change.key;
  const bool unit = std::ranges::any_of(kLists, [&](std::string_view list) { return is_below(key, list); });
  if (!unit || change.kind == Kind::kAdded) return false;
  if (change.kind == Kind::kRemoved) return true;
  return std::ranges::any_of(kNaming, [&](std::string_view naming) { return key.ends_with(naming); }) ||
         key.ends_with("].name");
}

}  // namespace sim::experiment

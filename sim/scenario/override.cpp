// sim/scenario/override.cpp: reading and applying --set.
#include "sim/scenario/override.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/scenario/parse.h"

namespace sim::scenario {

using base::Place;
using base::Value;

namespace {

// Splits at dots and brackets outside of quotes: failure[0]."my key" -> failure, 0, my key.
std::vector<std::string> split_path(const std::string& text) {
  std::vector<std::string> parts(1);
  char quote = 0;
  for (const char c : text) {
    if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        parts.back() += c;
      }
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '.' || c == '[') {
      parts.emplace_back();
    } else if (c != ']') {
      parts.back() += c;
    }
  }
  return parts;
}

// The first '=' outside of quotes.
std::size_t find_equals(const std::string& text) {
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (quote != 0) {
      if (text[i] == quote) quote = 0;
    } else if (text[i] == '"' || text[i] == '\'') {
      quote = text[i];
    } else if (text[i] == '=') {
      return i;
    }
  }
  return std::string::npos;
}

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(' ');
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

// Index of the element with that name or number, or nothing.
std::optional<std::size_t> find_element(const Value& list, const std::string& part) {
  for (std::size_t i = 0; i < list.items.size(); ++i) {
    const Value* const name = list.items[i].find("name");
    if (name != nullptr && name->kind == Value::Kind::kText && name->text == part) return i;
  }
  const bool digits = !part.empty() && part.size() <= 6 &&
                      std::all_of(part.begin(), part.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!digits) return {};
  const auto index = static_cast<std::size_t>(std::stoul(part));
  return index < list.items.size() ? std::optional(index) : std::nullopt;
}

void report_missing_element(const Override& change, const Value& list, const std::string& path,
                            const std::string& part, base::Problems& problems) {
  std::string names;
  for (const Value& item : list.items) {
    const Value* const name = item.find("name");
    if (name != nullptr) names += (names.empty() ? "" : " ") + name->text;
  }
  problems.add({change.shown, {}, path},
               fmt::format("has {} elements and none with name or index '{}'", list.items.size(), part),
               names.empty() ? "count from 0" : "names here are " + names);
}

}  // namespace

std::optional<Override> parse_override(const std::string& text, base::Problems& problems) {
  const std::size_t equals = find_equals(text);
  Override change;
  change.shown = "--set " + text;
  if (equals != std::string::npos) change.path = split_path(trimmed(text.substr(0, equals)));
  const bool has_empty = std::any_of(change.path.begin(), change.path.end(),
                                     [](const std::string& part) { return part.empty(); });
  if (change.path.empty() || has_empty) {
    problems.add({change.shown, {}, ""}, fmt::format("must be KEY=VALUE; got \"{}\"", text),
                 "write it like --set training.quorum=2");
    return {};
  }
  change.value = parse_value(trimmed(text.substr(equals + 1)), {change.shown, {}, ""});
  return change;
}

bool apply(const Override& change, std::size_t first, const std::string& prefix, Value& root,
           base::Problems& problems) {
  Value* here = &root;
  std::string path = prefix;
  for (std::size_t i = first; i < change.path.size(); ++i) {
    const std::string& part = change.path[i];
    const bool last = i + 1 == change.path.size();
    if (here->kind == Value::Kind::kList) {
      const auto index = find_element(*here, part);
      if (!index) {
        report_missing_element(change, *here, path, part, problems);
        return false;
      }
      path += fmt::format("[{}]", *index);
      here = &here->items[*index];
      if (last) *here = parse_value(base::to_toml(change.value), {change.shown, {}, path});
      continue;
    }
    if (here->kind != Value::Kind::kTable) {
      problems.add({change.shown, {}, path}, fmt::format("is no table, so it has no '{}'", part));
      return false;
    }
    path += path.empty() ? part : "." + part;
    const Place place = {change.shown, {}, path};
    if (last) {
      here->set(part, parse_value(base::to_toml(change.value), place), place);
      return true;
    }
    if (here->find(part) == nullptr) {
      Value table;
      table.place = place;
      here->set(part, table, place);
    }
    here = here->find(part);
  }
  return true;
}

}  // namespace sim::scenario

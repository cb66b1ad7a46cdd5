// sim/scenario/parse.cpp: the only code that includes the TOML library.
#include "sim/scenario/parse.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cctype>
#include <sstream>

#include "sim/scenario/unquoted.h"

namespace sim::scenario {

using base::Place;
using base::Position;
using base::Value;

namespace {

Position position_of(const toml::source_region& region) {
  return {static_cast<int>(region.begin.line), static_cast<int>(region.begin.column)};
}

Value from_node(const toml::node& node, const std::string& file, const std::string& path);

std::string child_path(const std::string& path, std::string_view key) {
  return path.empty() ? std::string(key) : path + "." + std::string(key);
}

Value from_table(const toml::table& table, const std::string& file, const std::string& path) {
  Value value;
  for (const auto& [key, child] : table) {
    const std::string full = child_path(path, key.str());
    value.entries.push_back({std::string(key.str()), {file, position_of(key.source()), full},
                             from_node(child, file, full)});
  }
  std::stable_sort(value.entries.begin(), value.entries.end(),
                   [](const base::Entry& a, const base::Entry& b) {
                     return a.key_place.position < b.key_place.position;
                   });
  return value;
}

Value from_array(const toml::array& array, const std::string& file, const std::string& path) {
  Value value;
  value.kind = Value::Kind::kList;
  for (std::size_t i = 0; i < array.size(); ++i) {
    value.items.push_back(from_node(array[i], file, fmt::format("{}[{}]", path, i)));
  }
  return value;
}

Value from_other(const toml::node& node) {
  std::ostringstream text;
  node.visit([&text](const auto& typed) {
    if constexpr (toml::is_value<decltype(typed)>) text << typed.get();
  });
  Value value = Value::of(text.str());
  value.kind = Value::Kind::kOther;
  return value;
}

Value from_node(const toml::node& node, const std::string& file, const std::string& path) {
  Value value;
  if (const auto* table = node.as_table()) {
    value = from_table(*table, file, path);
  } else if (const auto* array = node.as_array()) {
    value = from_array(*array, file, path);
  } else if (const auto* text = node.as_string()) {
    value = Value::of(std::string_view(text->get()));
  } else if (const auto* integer = node.as_integer()) {
    value = Value::of(integer->get());
  } else if (const auto* real = node.as_floating_point()) {
    value = Value::of(real->get());
  } else if (const auto* boolean = node.as_boolean()) {
    value = Value::of(boolean->get());
  } else {
    value = from_other(node);
  }
  value.place = {file, position_of(node.source()), path};
  return value;
}

// Lays every place of the tree onto `place`.
void move_to(Value& value, const Place& place) {
  value.place = place;
  for (std::size_t i = 0; i < value.items.size(); ++i) {
    Place inner = place;
    inner.path = fmt::format("{}[{}]", place.path, i);
    move_to(value.items[i], inner);
  }
  for (base::Entry& entry : value.entries) {
    Place inner = place;
    inner.path = child_path(place.path, entry.key);
    entry.key_place = inner;
    move_to(entry.value, inner);
  }
}

}  // namespace

Value parse_toml(const std::string& text, const std::string& file, base::Problems& problems) {
  try {
    Value root = from_table(toml::parse(text, file), file, "");
    root.place = {file, {1, 1}, ""};
    return root;
  } catch (const toml::parse_error& error) {
    const Position position = position_of(error.source());
    if (const auto bare = find_unquoted(text, position)) {
      problems.add({file, bare->position, bare->key}, "must be in quotes; got " + bare->text,
                   bare->has_unit ? fmt::format("write values with a unit as text: \"{}\"", bare->text)
                                  : fmt::format("write it as text: \"{}\"", bare->text));
    } else {
      std::string description(error.description());
      if (!description.empty()) {
        description[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(description[0])));
      }
      problems.add({file, position, ""}, "cannot be read as TOML: " + description);
    }
  }
  Value nothing;
  nothing.place = {file, {1, 1}, ""};
  return nothing;
}

Value parse_value(const std::string& text, const Place& place) {
  base::Problems ignored;
  Value table = parse_toml("value = " + text, "", ignored);
  const bool one_value = ignored.list().empty() && table.entries.size() == 1;
  Value value = one_value ? table.entries[0].value : Value::of(std::string_view(text));
  move_to(value, place);
  return value;
}

}  // namespace sim::scenario

// sim/base/value.cpp: looking up, changing and printing configuration values.
#include "sim/base/value.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sim::base {

namespace {

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (c == '\n') {
      result += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      result += fmt::format("\\u{:04x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    } else {
      result += c;
    }
  }
  return result + "\"";
}

template <class Range, class Print>
std::string joined(const Range& range, Print print) {
  std::string text;
  for (const auto& element : range) {
    if (!text.empty()) text += ", ";
    text += print(element);
  }
  return text;
}

}  // namespace

Value Value::of(std::string_view text) {
  Value value;
  value.kind = Kind::kText;
  value.text = text;
  return value;
}

Value Value::of(std::int64_t integer) {
  Value value;
  value.kind = Kind::kInteger;
  value.integer = integer;
  return value;
}

Value Value::of(double real) {
  Value value;
  value.kind = Kind::kReal;
  value.real = real;
  return value;
}

Value Value::of(bool boolean) {
  Value value;
  value.kind = Kind::kBoolean;
  value.boolean = boolean;
  return value;
}

const Entry* Value::entry(std::string_view key) const {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [key](const Entry& e) { return e.key == key; });
  return found == entries.end() ? nullptr : &*found;
}

const Value* Value::find(std::string_view key) const {
  const Entry* const found = entry(key);
  return found == nullptr ? nullptr : &found->value;
}

Value* Value::find(std::string_view key) {
  return const_cast<Value*>(static_cast<const Value*>(this)->find(key));
}

void Value::set(std::string_view key, Value value, const Place& key_place) {
  for (Entry& existing : entries) {
    if (existing.key == key) {
      existing.key_place = key_place;
      existing.value = std::move(value);
      return;
    }
  }
  entries.push_back({std::string(key), key_place, std::move(value)});
}

void Value::remove(std::string_view key) {
  std::erase_if(entries, [key](const Entry& e) { return e.key == key; });
}

std::string to_toml(const Value& value) {
  switch (value.kind) {
    case Value::Kind::kText: return quoted(value.text);
    case Value::Kind::kInteger: return fmt::format("{}", value.integer);
    case Value::Kind::kReal:
      if (std::isnan(value.real)) return "nan";
      return fmt::format("{}", value.real);
    case Value::Kind::kBoolean: return value.boolean ? "true" : "false";
    case Value::Kind::kList: return fmt::format("[{}]", joined(value.items, to_toml));
    case Value::Kind::kTable:
      if (value.entries.empty()) return "{}";
      return fmt::format("{{ {} }}", joined(value.entries, [](const Entry& e) {
                           return key_to_toml(e.key) + " = " + to_toml(e.value);
                         }));
    case Value::Kind::kOther: return value.text;
  }
  return {};
}

std::string key_to_toml(std::string_view key) {
  const bool bare = !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '_' || c == '-';
  });
  return bare ? std::string(key) : quoted(key);
}

}  // namespace sim::base

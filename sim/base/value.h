// sim/base/value.h: a tree of configuration values that remember where they were written.
//
// The schema reads these and never the TOML library's own nodes, so that one translation unit
// alone knows that library, and a value from --set is no different from one in the file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/diagnostic.h"

namespace sim::base {

// Where a value stands, and under which full name: "failure[0].mtbi".
struct Place {
  std::string file;
  Position position;
  std::string path;
};

struct Entry;

struct Value {
  enum class Kind : std::uint8_t {
    kText, kInteger, kReal, kBoolean, kList, kTable, kOther,  // kOther: dates, which no key takes
  };

  Kind kind = Kind::kTable;
  Place place;
  std::string text;          // kText
  std::int64_t integer = 0;  // kInteger
  double real = 0;           // kReal
  bool boolean = false;      // kBoolean
  std::vector<Value> items;  // kList
  std::vector<Entry> entries;  // kTable, in the order written

  static Value of(std::string_view text);
  static Value of(const char* text) { return of(std::string_view(text)); }
  static Value of(std::int64_t integer);
  static Value of(int integer) { return of(std::int64_t{integer}); }
  static Value of(double real);
  static Value of(bool boolean);

  // The entry of a table, or null.
  const Value* find(std::string_view key) const;
  Value* find(std::string_view key);
  const Entry* entry(std::string_view key) const;
  // Replaces the entry or appends it. `key_place` is where the key itself stands.
  void set(std::string_view key, Value value, const Place& key_place);
  void remove(std::string_view key);
};

struct Entry {
  std::string key;
  Place key_place;
  Value value;
};

// The value as TOML on one line: what `got` says in a diagnostic, and what the resolved scenario
// is written with. Reals are the shortest text that reads back exactly.
std::string to_toml(const Value& value);
// A key, quoted where TOML needs it.
std::string key_to_toml(std::string_view key);

}  // namespace sim::base

// sim/scenario/unquoted.h: text that somebody forgot to quote, found where TOML could not be read.
//
// `mtbi = 6 h` and `name = x` are the first mistakes of everybody who is new to TOML, and what the
// TOML library says of them ("expected a comment or whitespace") does not help.
#pragma once

#include <optional>
#include <string>

#include "sim/base/diagnostic.h"

namespace sim::scenario {

struct Unquoted {
  base::Position position;  // of the text
  std::string key;          // as written before '='; empty in a list
  std::string text;         // "6 h"
  bool has_unit;            // starts as a number
};

// The first value on the line of `error`, or on the one before it, that is neither quoted nor
// anything else that TOML takes; in tables and lists on that line too. Nothing: the mistake is
// another.
std::optional<Unquoted> find_unquoted(const std::string& text, const base::Position& error);

}  // namespace sim::scenario

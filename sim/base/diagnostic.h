// sim/base/diagnostic.h: a user's mistake, with its place, as a value.
//
// Diagnostics are collected, sorted by position and all printed; nothing throws for a mistake of
// the user's (house rule: our bugs, user mistakes and simulated failures never mix).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sim::base {

// From 1; 0 when there is no place in a file (a missing file, --set).
struct Position {
  int line = 0;
  int column = 0;
  auto operator<=>(const Position&) const = default;
};

// A warning is for a choice that is legal and probably wrong; it changes no exit code.
enum class Severity { kError, kWarning };

struct Diagnostic {
  std::string file;     // display name, or "--set a.b=3"
  Position position;
  std::string key;      // "failure[0].mtbi"; may be empty
  std::string message;  // the rule with its numbers, then "; got VALUE"
  std::string hint;     // one thing to do; may be empty
  Severity severity = Severity::kError;
  bool operator==(const Diagnostic&) const = default;
};

// file:line:column: error: key: message      (or warning)
//   hint: hint
// Without position or key their parts are left out. Ends without a line feed.
std::string format(const Diagnostic& diagnostic);

// By file (in the order in which files first appear), then position. Those that say the same of the
// same place are one mistake and kept once, with the guess ("did you mean") if any of them has one:
// a key that several arms inherit is judged under each arm's method.
void sort_and_unite(std::vector<Diagnostic>& diagnostics);

// All of them, one after another, each ended by a line feed.
std::string format(const std::vector<Diagnostic>& diagnostics);

// The candidate that was probably meant, or "": at most max(1, length / 3) edits away, where a
// swap of neighbours is one edit; the nearest wins, ties by order.
std::string nearest_name(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace sim::base

// sim/base/diagnostic.cpp: printing and sorting of users' mistakes, and guesses at misspelt names.
#include "sim/base/diagnostic.h"

#include <fmt/format.h>

#include <algorithm>

namespace sim::base {

namespace {

// Insertions, deletions, substitutions and swaps of neighbours (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) cost[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) cost[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
      }
    }
  }
  return cost[a.size()][b.size()];
}

// All but the hint.
bool is_same_mistake(const Diagnostic& a, const Diagnostic& b) {
  return a.file == b.file && a.position == b.position && a.key == b.key &&
         a.message == b.message && a.severity == b.severity;
}

bool is_guess(const std::string& hint) { return hint.starts_with("did you mean"); }

}  // namespace

std::string format(const Diagnostic& diagnostic) {
  std::string text = diagnostic.file;
  if (diagnostic.position.line > 0) {
    text += fmt::format(":{}:{}", diagnostic.position.line, diagnostic.position.column);
  }
  text += diagnostic.severity == Severity::kWarning ? ": warning: " : ": error: ";
  if (!diagnostic.key.empty()) text += diagnostic.key + ": ";
  text += diagnostic.message;
  if (!diagnostic.hint.empty()) text += "\n  hint: " + diagnostic.hint;
  return text;
}

void sort_and_unite(std::vector<Diagnostic>& diagnostics) {
  std::vector<std::string> files;
  for (const Diagnostic& diagnostic : diagnostics) {
    if (std::find(files.begin(), files.end(), diagnostic.file) == files.end()) {
      files.push_back(diagnostic.file);
    }
  }
  const auto rank = [&files](const std::string& file) {
    return std::find(files.begin(), files.end(), file) - files.begin();
  };
  std::stable_sort(diagnostics.begin(), diagnostics.end(),
                   [&rank](const Diagnostic& a, const Diagnostic& b) {
                     const auto rank_a = rank(a.file), rank_b = rank(b.file);
                     return rank_a != rank_b ? rank_a < rank_b : a.position < b.position;
                   });
  std::vector<Diagnostic> kept;
  for (Diagnostic& diagnostic : diagnostics) {
    const auto same = std::find_if(kept.begin(), kept.end(), [&diagnostic](const Diagnostic& other) {
      return is_same_mistake(other, diagnostic);
    });
    if (same == kept.end()) {
      kept.push_back(std::move(diagnostic));
    } else if (!is_guess(same->hint) && is_guess(diagnostic.hint)) {
      same->hint = std::move(diagnostic.hint);
    }
  }
  diagnostics = std::move(kept);
}

std::string format(const std::vector<Diagnostic>& diagnostics) {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics) text += format(diagnostic) + "\n";
  return text;
}

std::string nearest_name(std::string_view word, const std::vector<std::string>& candidates) {
  std::size_t nearest = std::max<std::size_t>(1, word.size() / 3) + 1;
  std::string best;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < nearest) {
      nearest = distance;
      best = candidate;
    }
  }
  return best;
}

}  // namespace sim::base

// sim/scenario/unquoted.cpp: walks along one line of TOML and looks at its bare values.
#include "sim/scenario/unquoted.h"

#include <algorithm>
#include <cctype>
#include <sstream>
#include <string_view>

namespace sim::scenario {

namespace {

constexpr std::string_view kBlanks = " \t\r";

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

// A number in one of TOML's forms, roughly: digits with the letters of an exponent, of a base or of
// a date. What is taken for one here by mistake is left to the TOML library's own message.
bool is_number(std::string_view value) {
  if (value.starts_with("0x") || value.starts_with("0o") || value.starts_with("0b")) return true;
  return std::all_of(value.begin(), value.end(), [](char c) {
    return is_digit(c) || std::string_view("+-._:eETZ").find(c) != std::string_view::npos;
  });
}

bool is_value(std::string_view value) {
  if (value == "true" || value == "false" || is_number(value)) return true;
  const std::string_view unsigned_value = value.substr(value[0] == '+' || value[0] == '-' ? 1 : 0);
  return unsigned_value == "inf" || unsigned_value == "nan";
}

// What is no sign of any TOML value: a word, or a number with a word behind it.
bool is_forgotten_text(std::string_view value) {
  if (value.empty() || is_value(value)) return false;
  const std::size_t first = value[0] == '+' || value[0] == '-' ? 1 : 0;
  if (first == value.size()) return false;
  return is_letter(value[first]) || is_digit(value[first]);
}

// One line, from left to right.
class Walk {
 public:
  Walk(std::string_view line, int number) : line_(line), number_(number) {}

  std::optional<Unquoted> find() {
    for (; at_ < line_.size() && line_[at_] != '#'; ++at_) {
      const char c = line_[at_];
      if (c == '"' || c == '\'') {
        pass_quoted(c);
      } else if (c == '[' || c == '{') {
        if (seen_equals_) nesting_ += c;
        key_begin_ = at_ + 1;
        if (c == '[' && seen_equals_) {
          if (auto found = value_at(at_ + 1, "")) return found;
        }
      } else if (c == ']' || c == '}') {
        if (!nesting_.empty()) nesting_.pop_back();
      } else if (c == ',') {
        key_begin_ = at_ + 1;
        if (nesting_.ends_with('[')) {
          if (auto found = value_at(at_ + 1, "")) return found;
        }
      } else if (c == '=') {
        seen_equals_ = true;
        const auto key = trimmed(line_.substr(key_begin_, at_ - key_begin_));
        if (auto found = value_at(at_ + 1, key)) return found;
      }
    }
    return std::nullopt;
  }

 private:
  void pass_quoted(char quote) {
    for (++at_; at_ < line_.size() && line_[at_] != quote; ++at_) {
      if (line_[at_] == '\\' && quote == '"') ++at_;
    }
  }

  std::optional<Unquoted> value_at(std::size_t begin, std::string_view key) const {
    const std::size_t start = line_.find_first_not_of(kBlanks, begin);
    if (start == std::string_view::npos) return std::nullopt;
    const std::size_t end = std::min(line_.find_first_of(",]}#\"'=[{", start), line_.size());
    const std::string_view value = trimmed(line_.substr(start, end - start));
    if (!is_forgotten_text(value)) return std::nullopt;
    return Unquoted{{number_, static_cast<int>(start) + 1},
                    std::string(key),
                    std::string(value),
                    !is_letter(value[0])};
  }

  std::string_view line_;
  int number_;
  std::size_t at_ = 0, key_begin_ = 0;
  bool seen_equals_ = false;
  std::string nesting_;  // open brackets of values
};

}  // namespace

std::optional<Unquoted> find_unquoted(const std::string& text, const base::Position& error) {
  std::istringstream lines(text);
  std::string before, current;
  for (int i = 0; i < error.line; ++i) {
    before = std::move(current);
    current.clear();
    std::getline(lines, current);
  }
  if (auto found = Walk(current, error.line).find()) return found;
  return error.line > 1 ? Walk(before, error.line - 1).find() : std::nullopt;
}

}  // namespace sim::scenario

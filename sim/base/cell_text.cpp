// sim/base/cell_text.cpp: see cell_text.h.
#include "sim/base/cell_text.h"

#include <charconv>

namespace sim::base {

namespace {

constexpr std::string_view kGuarded = "=+-@'";

bool is_number(std::string_view text) {
  double value = 0;
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [rest, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  return code != std::errc::invalid_argument && rest == text.data() + text.size();
}

}  // namespace

std::string csv_cell(std::string_view text) {
  const bool guarded =
      !text.empty() && kGuarded.find(text.front()) != std::string_view::npos && !is_number(text);
  const std::string whole = (guarded ? "'" : "") + std::string(text);
  const bool blank_end = whole.starts_with(' ') || whole.ends_with(' ');
  if (!blank_end && whole.find_first_of(",\"\r\n\t") == std::string::npos) return whole;
  std::string quoted = "\"";
  for (const char c : whole) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

std::string text_of_cell(std::string_view cell) {
  const bool guarded = cell.size() > 1 && cell[0] == '\'' && kGuarded.find(cell[1]) != std::string_view::npos;
  return std::string(cell.substr(guarded ? 1 : 0));
}

std::string markdown_cell(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (std::string_view("\\`*_[]<>&|~").find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

}  // namespace sim::base

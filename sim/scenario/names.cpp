// sim/scenario/names.cpp: see names.h.
#include "sim/scenario/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace sim::scenario {

namespace {

unsigned byte_of(char c) { return static_cast<unsigned char>(c); }

struct CodePoint {
  std::uint32_t value;
  std::size_t length;  // 0: no UTF-8
};

CodePoint code_point_at(std::string_view text) {
  const unsigned first = byte_of(text[0]);
  if (first < 0x80) return {first, 1};
  const std::size_t length = first >= 0xf0 && first < 0xf8 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first >= 0xf5 || text.size() < length) return {0, 0};
  std::uint32_t value = first & (0x7fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte_of(text[i]) & 0xc0) != 0x80) return {0, 0};
    value = value << 6 | (byte_of(text[i]) & 0x3f);
  }
  constexpr std::uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xd800 && value < 0xe000;
  if (value < kSmallest[length] || surrogate || value > 0x10ffff) return {0, 0};
  return {value, length};
}

// C0, DEL and C1, the separators of lines and paragraphs, and what turns the direction of text.
bool is_control(std::uint32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x2028 || c == 0x2029 ||
         (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

}  // namespace

std::string trouble_with_name(std::string_view name) {
  while (!name.empty()) {
    const CodePoint point = code_point_at(name);
    if (point.length == 0) return "must be UTF-8";
    if (is_control(point.value)) {
      return fmt::format("must have no control character (here U+{:04X})", point.value);
    }
    name.remove_prefix(point.length);
  }
  return {};
}

std::string shown(std::string_view name) {
  std::string text;
  while (!name.empty()) {
    const CodePoint point = code_point_at(name);
    const std::size_t length = std::max<std::size_t>(1, point.length);
    if (point.length == 0 || is_control(point.value)) {
      for (const char c : name.substr(0, length)) text += fmt::format("\\x{:02x}", byte_of(c));
    } else {
      text += name.substr(0, length);
    }
    name.remove_prefix(length);
  }
  return text;
}

std::string folder_name(std::string_view name) {
  std::string folder;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const bool first = i == 0, last = i + 1 == name.size();
    const bool encoded = byte_of(c) < 0x20 || c == 0x7f ||
                         std::string_view("/\\:*?\"<>|%").find(c) != std::string_view::npos ||
                         (first && (c == '.' || c == '-' || c == ' ')) || (last && (c == '.' || c == ' '));
    folder += encoded ? fmt::format("%{:02X}", byte_of(c)) : std::string(1, c);
  }
  return folder;
}

std::string folded(std::string_view folder) {
  std::string text(folder);
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

}  // namespace sim::scenario

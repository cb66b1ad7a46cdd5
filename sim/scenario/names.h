// sim/scenario/names.h: what a user may call things, and the folders that stand for such names.
#pragma once

#include <string>
#include <string_view>

namespace sim::scenario {

// Why no file, table or terminal could show this name, as a rule for a diagnostic; empty: they can.
// A name is UTF-8 without control characters, which would move a cursor, cut a path or break a line.
std::string trouble_with_name(std::string_view name);

// `name` with every character that could not be seen by its code: \x1b.
std::string shown(std::string_view name);

constexpr std::size_t kLongestFolder = 200;  // bytes; file systems take 255 (assumed: room for affixes)

// The folder of an arm's results. What is not portable in a file's name, and '%', becomes %XX: slashes,
// what Windows refuses, a dot or hyphen at the start, a dot or blank at the end.
std::string folder_name(std::string_view name);

// Equal for folders that are one on a file system without capitals.
std::string folded(std::string_view folder);

}  // namespace sim::scenario

// tests/tidy/source_tree.h: the repository's files as text, and rules as functions from text to
// complaints, so that every rule is itself tested on a planted breach.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace tests_tidy {

namespace fs = std::filesystem;

struct SourceFile {
  std::string path;  // from the root: "sim/base/time.h"
  std::string text;
};

inline std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// All files below the folders that have one of the extensions, sorted by path.
inline std::vector<SourceFile> files_below(const std::vector<std::string>& folders,
                                           const std::vector<std::string>& extensions) {
  const fs::path root(ATOLL_SOURCE_DIR);
  std::vector<SourceFile> files;
  for (const std::string& folder : folders) {
    if (!fs::exists(root / folder)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      const std::string extension = entry.path().extension().string();
      if (!entry.is_regular_file() || std::ranges::count(extensions, extension) == 0) continue;
      files.push_back({fs::relative(entry.path(), root).string(), text_of(entry.path())});
    }
  }
  std::ranges::sort(files, {}, &SourceFile::path);
  return files;
}

// The code of a file line by line, without comments to the end of the line and without the insides
// of string literals: what may be named in words only must not count as used.
inline std::vector<std::string> code_lines(const std::string& text) {
  std::vector<std::string> lines(1);
  bool in_string = false, in_comment = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n') {
      lines.emplace_back();
      in_string = in_comment = false;
    } else if (in_comment) {
      continue;
    } else if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"' && !lines.back().starts_with("#include")) {
      in_string = true;
    } else if (c == '/' && i + 1 < text.size() && text[i + 1] == '/') {
      in_comment = true;
    } else {
      lines.back() += c;
    }
  }
  return lines;
}

}  // namespace tests_tidy

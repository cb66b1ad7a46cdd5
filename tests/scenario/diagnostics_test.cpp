// tests/scenario/diagnostics_test.cpp: each bad file of tests/diagnostics gives exactly the text beside it.
//
// NAME.toml is loaded as text under the display name "NAME.toml"; a first line "# --set A" adds an
// override. UPDATE_GOLDEN=1 writes the .txt files anew.
// Teeth: seen failing with every value's position at 1:1, with a suggestion distance of the whole
// length of the word, with unsorted diagnostics, with units read as prefixes, with one mistake told once per
// arm, with a wrong format among other mistakes, with unquoted text not looked for in tables and lists, with
// the unit of the dimension's example for every key, and with expected fields known by their first part only.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "sim/base/diagnostic.h"
#include "sim/scenario/load.h"

using namespace sim;
namespace fs = std::filesystem;

namespace {

std::string content(const fs::path& path) {
  std::ifstream stream(path);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

std::vector<std::string> sets_in(const std::string& text) {
  std::vector<std::string> sets;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line) && line.starts_with("# --set ");) {
    sets.push_back(line.substr(8));
  }
  return sets;
}

std::vector<fs::path> bad_files() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(fs::path(ATOLL_SOURCE_DIR) / "tests/diagnostics")) {
    if (entry.path().extension() == ".toml") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

TEST_CASE("diagnostics: every bad file gives its exact text, sorted by position") {
  const auto files = bad_files();
  CHECK(files.size() >= 18);
  for (const fs::path& file : files) {
    const std::string text = content(file);
    const auto result = scenario::load_text(text, file.filename().string(), sets_in(text));
    CHECK_FALSE(result.scenario);
    const std::string told = base::format(result.diagnostics);
    fs::path expected = file;
    expected.replace_extension(".txt");
    if (std::getenv("UPDATE_GOLDEN") != nullptr) std::ofstream(expected) << told;
    INFO(file.filename().string());
    CHECK(told == content(expected));
  }
}

TEST_CASE("diagnostics: a missing file and a folder are told apart from a bad one") {
  const auto missing = scenario::load_file("no/such.toml");
  CHECK(missing.file_missing);
  CHECK(base::format(missing.diagnostics) ==
        "no/such.toml: error: cannot be read\n  hint: give the path of a scenario file\n");
  CHECK(scenario::load_file(std::string(ATOLL_SOURCE_DIR) + "/tests").file_missing);
  const auto bad = scenario::load_text("format = 1", "bad.toml");
  CHECK_FALSE(bad.file_missing);
  CHECK_FALSE(bad.scenario);
}

TEST_CASE("diagnostics: nothing that is cut off or garbled is accepted or throws", "[property]") {
  const std::string good = content(fs::path(ATOLL_SOURCE_DIR) / "scenarios/minimal.toml");
  for (std::size_t length = 0; length < good.size(); length += 97) {
    CAPTURE(length);
    const auto cut = scenario::load_text(good.substr(0, length), "cut.toml");
    CHECK(cut.scenario.has_value() == cut.diagnostics.empty());
    std::string garbled = good;
    garbled[length] = '=';
    const auto result = scenario::load_text(garbled, "garbled.toml");
    CHECK(result.scenario.has_value() == result.diagnostics.empty());
  }
}

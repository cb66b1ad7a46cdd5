// tests/cli/mistakes_test.cpp: each mistake of a user gives its exact text, exit code 2 and no files.
//
// tests/diagnostics holds the bad files and their texts, which the library is held to; here the program
// is: the same text on stderr to the letter, nothing on stdout, no results. The mistakes that must be
// among them are named, so that none can be deleted unseen.
// Teeth:  seen failing with exit code 1 for a mistake.
#include <catch2/catch.hpp>
#include <sstream>

#include "tests/cli/run_command.h"
#include "tests/cli/small_scenario.h"

namespace tests_cli {
namespace {

const fs::path& diagnostics() {
  static const fs::path folder = fs::path(ATOLL_SOURCE_DIR) / "tests/diagnostics";
  return folder;
}

// First lines "# --set KEY=VALUE" are options of the command line.
std::vector<std::string> command_for(const std::string& file, const std::string& text) {
  std::vector<std::string> words = {"run", file};
  std::istringstream lines(text);
  constexpr std::string_view kLead = "# --set ";
  for (std::string line; std::getline(lines, line) && line.starts_with(kLead);) {
    words.push_back("--set");
    words.push_back(line.substr(kLead.size()));
  }
  return words;
}

TEST_CASE("mistakes: each has its exact text on stderr, exit code 2 and no results", "[cli]") {
  const Place place;
  for (const std::string name :
       {"misspelt_key", "missing_unit", "unknown_unit_minutes", "unknown_unit_bits", "no_islands",
        "quorum_above_learners", "unknown_region_of_a_link", "no_link_between_talking_regions",
        "more_fragments_than_rows", "negative_time", "not_toml", "steady_state_above_link",
        "several_mistakes", "set_mistakes"}) {
    CAPTURE(name);
    const std::string file = name + ".toml";
    const std::string text = text_of(diagnostics() / file);
    REQUIRE_FALSE(text.empty());
    place.write(file, text);
    const Outcome got = atoll(command_for(file, text), place.root);
    CHECK(got.err == text_of(diagnostics() / (name + ".txt")));
    CHECK(got.exit_code == 2);
    CHECK(got.out.empty());
    CHECK_FALSE(fs::exists(place.root / "results"));
  }
}

TEST_CASE("mistakes: a missing file has its exact text and exit code 3", "[cli]") {
  const Place place;
  for (const char* verb : {"run", "compare", "validate"}) {
    CAPTURE(verb);
    const Outcome got = atoll({verb, "nowhere.toml"}, place.root);
    CHECK(got.exit_code == 3);
    CHECK(got.out.empty());
    CHECK(got.err == "nowhere.toml: error: cannot be read\n  hint: give the path of a scenario file\n");
  }
}

TEST_CASE("mistakes: results that cannot be written have their exact text and exit code 3", "[cli]") {
  const Place place;
  place.write("small.toml", small_scenario());
  place.write("file", "not a folder");
  const Outcome got = atoll({"run", "small.toml", "--results", "file/below"}, place.root);
  CHECK(got.exit_code == 3);
  CHECK(got.out.empty());
  CHECK(got.err ==
        "file/below/small/decoupled-diloco/seed-7: error: cannot be written: Not a directory\n");
}

TEST_CASE("mistakes: results of another scenario have their exact text and exit code 2", "[cli]") {
  const Place place;
  place.write("small.toml", small_scenario());
  REQUIRE(atoll({"run", "small.toml"}, place.root).exit_code == 0);
  const Outcome got =
      atoll({"run", "small.toml", "--set", "training.sync_every=12"}, place.root);
  CHECK(got.exit_code == 2);
  CHECK(got.out.empty());
  CHECK(got.err ==
        "results/small: error: holds another scenario's results: decoupled-diloco/seed-7\n"
        "  hint: --force removes all of its runs first, --results DIR writes elsewhere\n");
}

TEST_CASE("mistakes: a data file that is missing exits 3, one with a wrong cell exits 2", "[cli]") {
  const Place place;
  std::string text = small_scenario();
  const std::string old = "model = \"quadratic\"\ntask = \"quadratic\"\ninputs = 8\n";
  REQUIRE(text.find(old) != std::string::npos);
  text.replace(text.find(old), old.size(), "model = \"softmax\"\ntask = \"csv\"\nfile = \"f.csv\"\n");
  place.write("s.toml", text);
  const Outcome missing = atoll({"run", "s.toml"}, place.root);
  CHECK(missing.exit_code == 3);
  CHECK(missing.err == "s.toml:13:8: error: learning.file: cannot be read; got \"f.csv\"\n"
                       "  hint: files are looked for beside the scenario\n");
  place.write("f.csv", "a,kind\n1,x\nnan,y\n");
  const Outcome wrong = atoll({"validate", "s.toml"}, place.root);
  CHECK(wrong.exit_code == 2);
  CHECK(wrong.err == "f.csv:3:1: error: a: must be a finite number; got \"nan\"\n");
  std::string table = "a,b,c,d,kind\n";  // as many columns as the scenario has fragments
  for (int row = 0; row < 40; ++row) {
    table += std::to_string(row) + ",1,2," + std::to_string(row % 3) + (row < 20 ? ",x\n" : ",y\n");
  }
  place.write("f.csv", table);
  const Outcome right = atoll({"run", "s.toml"}, place.root);
  CHECK(right.err == "");
  CHECK(right.exit_code == 0);
}

}  // namespace
}  // namespace tests_cli

// tests/experiment/results_folder_test.cpp: old results or new ones, never a mixture, never a rest.
//
// Teeth:  seen failing with the hidden folder left in the destructor, with the exchange left out,
//         with the scenario comparison removed, with orphans kept, with every orphan's writer taken
//         for dead, and with the parents that open() made left behind.
#include "sim/experiment/results_folder.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

namespace sim::experiment {
namespace {

namespace fs = std::filesystem;

class Place {
 public:
  Place() {
    std::string name = (fs::temp_directory_path() / "atoll-folder-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
    root = name;
  }
  ~Place() { fs::remove_all(root); }

  std::string path(const std::string& below) const { return (root / below).string(); }
  std::string text(const std::string& below) const {
    std::ifstream file(root / below);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }
  void write(const std::string& below, const std::string& text) const {
    fs::create_directories((root / below).parent_path());
    std::ofstream(root / below) << text;
  }
  std::set<std::string> all() const {
    std::set<std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
      found.insert(fs::relative(entry.path(), root).string());
    }
    return found;
  }

  fs::path root;
};

void write_results(const std::string& path, const std::string& resolved, const std::string& file,
                   const std::string& text) {
  ResultsFolder folder(path);
  const auto trouble = folder.open(resolved, Overwrite::kSameScenarioOnly);
  REQUIRE_FALSE(trouble);
  std::ofstream(fs::path(folder.hidden_path()) / file) << text;
  REQUIRE_FALSE(folder.publish());
}

TEST_CASE("results folder: nothing is seen before it is whole", "[unit][experiment]") {
  const Place place;
  ResultsFolder folder(place.path("x/arm/seed-1"));
  REQUIRE_FALSE(folder.open("a = 1\n", Overwrite::kSameScenarioOnly));
  CHECK_FALSE(fs::exists(place.path("x/arm/seed-1")));
  CHECK(fs::path(folder.hidden_path()).filename().string().starts_with("."));
  CHECK(fs::path(folder.hidden_path()).parent_path() == place.path("x/arm"));
  REQUIRE_FALSE(folder.publish());
  CHECK(place.text("x/arm/seed-1/scenario.toml") == "a = 1\n");
}

TEST_CASE("results folder: new results replace old ones whole", "[unit][experiment]") {
  const Place place;
  write_results(place.path("x/arm/seed-1"), "a = 1\n", "old.csv", "old");
  write_results(place.path("x/arm/seed-1"), "a = 1\n", "new.csv", "new");
  CHECK(place.all() == std::set<std::string>{"x", "x/arm", "x/arm/seed-1",
                                             "x/arm/seed-1/scenario.toml",
                                             "x/arm/seed-1/new.csv"});
}

TEST_CASE("results folder: given up, it leaves no trace", "[unit][experiment]") {
  const Place place;
  {
    ResultsFolder folder(place.path("x/arm/seed-1"));
    REQUIRE_FALSE(folder.open("a = 1\n", Overwrite::kSameScenarioOnly));
  }
  CHECK(place.all().empty());
}

TEST_CASE("results folder: another scenario's results are refused unless forced",
          "[unit][experiment]") {
  const Place place;
  write_results(place.path("x/arm/seed-1"), "a = 1\n", "old.csv", "old");
  {
    ResultsFolder folder(place.path("x/arm/seed-1"));
    const auto trouble = folder.open("a = 2\n", Overwrite::kSameScenarioOnly);
    REQUIRE(trouble);
    CHECK(trouble->kind == FolderTrouble::Kind::kHoldsAnother);
    CHECK(trouble->message == place.path("x/arm/seed-1") +
                                  ": error: holds another scenario\n"
                                  "  hint: --force replaces it, --results DIR writes elsewhere");
  }
  CHECK(place.text("x/arm/seed-1/old.csv") == "old");
  ResultsFolder folder(place.path("x/arm/seed-1"));
  REQUIRE_FALSE(folder.open("a = 2\n", Overwrite::kForce));
  REQUIRE_FALSE(folder.publish());
  CHECK(place.text("x/arm/seed-1/scenario.toml") == "a = 2\n");
  CHECK_FALSE(fs::exists(place.path("x/arm/seed-1/old.csv")));
}

TEST_CASE("results folder: a folder that is not ours is refused", "[unit][experiment]") {
  const Place place;
  place.write("x/arm/seed-1/thesis.tex", "ten years of work");
  ResultsFolder folder(place.path("x/arm/seed-1"));
  const auto trouble = folder.open("a = 1\n", Overwrite::kSameScenarioOnly);
  REQUIRE(trouble);
  CHECK(trouble->kind == FolderTrouble::Kind::kHoldsAnother);
  CHECK(place.text("x/arm/seed-1/thesis.tex") == "ten years of work");
}

TEST_CASE("results folder: a path below a file is the file system's trouble", "[unit][experiment]") {
  const Place place;
  place.write("x", "a file");
  ResultsFolder folder(place.path("x/arm/seed-1"));
  const auto trouble = folder.open("a = 1\n", Overwrite::kForce);
  REQUIRE(trouble);
  CHECK(trouble->kind == FolderTrouble::Kind::kFileSystem);
  CHECK(trouble->message == place.path("x/arm/seed-1") +
                                ": error: cannot be written: Not a directory");
  CHECK(place.text("x") == "a file");
}

TEST_CASE("results folder: hidden folders of dead writers are swept", "[unit][experiment]") {
  const Place place;
  // Above any process number that Linux gives out; and one writer that lives: process 1.
  place.write("x/arm/.seed-1.writing-999999999/scenario.toml", "a = 1\n");
  place.write("x/arm/.seed-1.writing-1/scenario.toml", "a = 1\n");
  write_results(place.path("x/arm/seed-1"), "a = 1\n", "new.csv", "new");
  CHECK_FALSE(fs::exists(place.path("x/arm/.seed-1.writing-999999999")));
  CHECK(fs::exists(place.path("x/arm/.seed-1.writing-1")));
}

}  // namespace
}  // namespace sim::experiment

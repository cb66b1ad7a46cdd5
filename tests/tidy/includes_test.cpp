// tests/tidy/includes_test.cpp: folders include only what lies below them.
//
// The table repeats the arrows of design and of sim/CMakeLists.txt on purpose: static libraries link
// in circles without complaint, so an edit of the build files alone must not turn an arrow round.
// Teeth:  seen failing with an include of sim/scenario planted in sim/engine/transport.cpp, of
//         optim in failure_models, and of simgrid/s4u.hpp in sim/engine/transport.h.
#include <catch2/catch.hpp>
#include <map>
#include <regex>
#include <set>

#include "tests/tidy/source_tree.h"

namespace tests_tidy {
namespace {

const std::map<std::string, std::set<std::string>>& folders_directly_below() {
  static const std::map<std::string, std::set<std::string>> table = {
      {"sim/base", {}},
      {"optim", {"sim/base"}},
      {"failure_models", {"sim/base"}},
      {"sim/tape", {"sim/base"}},
      {"sim/engine", {"sim/tape"}},
      {"sim/methods", {"sim/engine", "optim"}},
      {"sim/chaos", {"sim/methods", "failure_models"}},
      {"sim/readers", {"sim/tape"}},
      {"sim/trainer", {"sim/tape", "optim"}},
      {"sim/report", {"sim/tape", "sim/readers"}},
      {"sim/scenario", {"sim/methods", "sim/chaos", "sim/readers", "sim/trainer", "sim/report"}},
      {"sim/experiment", {"sim/scenario"}},
      {"sim/cli", {"sim/experiment"}},
  };
  return table;
}

bool may_include(const std::string& from, const std::string& to) {
  if (from == to) return true;
  for (const std::string& below : folders_directly_below().at(from)) {
    if (may_include(below, to)) return true;
  }
  return false;
}

std::string folder_of(const std::string& path) {
  for (const auto& [folder, below] : folders_directly_below()) {
    if (path.starts_with(folder + "/")) return folder;
  }
  return "";
}

std::vector<std::string> include_complaints(const SourceFile& file) {
  static const std::regex include(R"re(^#include ([<"])([^>"]+)[>"])re");
  std::vector<std::string> complaints;
  const std::string folder = folder_of(file.path);
  for (const std::string& line : code_lines(file.text)) {
    std::smatch match;
    if (!std::regex_search(line, match, include)) continue;
    const std::string target = match[2];
    const bool engine_source = folder == "sim/engine" && file.path.ends_with(".cpp");
    if (target.starts_with("simgrid/") && !engine_source) {
      complaints.push_back(file.path + ": includes " + target + "; only sim/engine/*.cpp may");
    }
    const std::string target_folder = folder_of(target);
    if (!folder.empty() && !target_folder.empty() && !may_include(folder, target_folder)) {
      complaints.push_back(file.path + ": includes " + target + "; " + target_folder +
                           " does not lie below " + folder);
    }
    if (match[1] == "\"" && target.find('/') == std::string::npos && target != "atoll_version.h") {
      complaints.push_back(file.path + ": includes " + target + "; includes start at the root");
    }
  }
  return complaints;
}

TEST_CASE("includes: a planted breach of each kind is found", "[unit][tidy]") {
  const auto count = [](const std::string& path, const std::string& text) {
    return include_complaints({path, text}).size();
  };
  CHECK(count("sim/engine/x.cpp", "#include \"sim/scenario/load.h\"\n") == 1);
  CHECK(count("failure_models/x.h", "#include \"optim/merge.h\"\n") == 1);
  CHECK(count("optim/x.h", "#include \"sim/tape/fact.h\"\n") == 1);
  CHECK(count("sim/engine/x.h", "#include <simgrid/s4u.hpp>\n") == 1);
  CHECK(count("sim/methods/x.cpp", "#include <simgrid/forward.h>\n") == 1);
  CHECK(count("sim/cli/x.cpp", "#include \"verbs.h\"\n") == 1);
}

TEST_CASE("includes: what lies below is allowed, at any depth", "[unit][tidy]") {
  const auto clean = [](const std::string& path, const std::string& text) {
    return include_complaints({path, text}).empty();
  };
  CHECK(clean("sim/cli/x.cpp", "#include \"sim/base/time.h\"\n#include <vector>\n"));
  CHECK(clean("sim/scenario/x.cpp", "#include \"failure_models/renewal.h\"\n"));
  CHECK(clean("sim/engine/x.cpp", "#include <simgrid/s4u.hpp>\n"));
}

TEST_CASE("includes: every arrow of the tree points down", "[unit][tidy]") {
  const auto files = files_below({"sim", "optim", "failure_models"}, {".h", ".cpp"});
  REQUIRE(files.size() > 50);  // the walk found the tree
  for (const SourceFile& file : files) {
    CHECK(include_complaints(file) == std::vector<std::string>{});
  }
}

}  // namespace
}  // namespace tests_tidy

// tests/tidy/scenarios_test.cpp: no scenario that nobody runs.
//
// Teeth:  seen failing with an unused scenarios/orphan.toml.
#include <catch2/catch.hpp>

#include "tests/tidy/source_tree.h"

namespace tests_tidy {
namespace {

// Too long for a test; run by hand or for a figure. Each with the place that runs it.
const std::vector<std::string>& slow_scenarios() {
  static const std::vector<std::string> list = {};
  return list;
}

bool is_named(const std::string& stem, const std::vector<SourceFile>& tests) {
  return std::ranges::any_of(tests, [&](const SourceFile& test) {
    if (test.path.starts_with("tests/tidy/")) return false;  // speaks of scenarios, runs none
    return test.text.find(stem + ".toml") != std::string::npos ||
           test.text.find("\"" + stem + "\"") != std::string::npos;
  });
}

TEST_CASE("scenarios: a name counts only where a test uses it whole", "[unit][tidy]") {
  CHECK(is_named("minimal", {{"tests/x.cpp", "load(\"scenarios/minimal.toml\")"}}));
  CHECK(is_named("minimal", {{"tests/x.cpp", "golden(\"minimal\")"}}));
  CHECK_FALSE(is_named("minimal", {{"tests/x.cpp", "// a minimal example"}}));
}

TEST_CASE("scenarios: each one is run by a test, or is listed as slow", "[unit][tidy]") {
  const auto tests = files_below({"tests"}, {".cpp", ".h", ".txt", ".cmake"});
  for (const SourceFile& scenario : files_below({"scenarios"}, {".toml"})) {
    CAPTURE(scenario.path);
    const std::string stem = fs::path(scenario.path).stem().string();
    const bool slow = std::ranges::count(slow_scenarios(), scenario.path) > 0;
    CHECK((slow || is_named(stem, tests)));
  }
}

}  // namespace
}  // namespace tests_tidy

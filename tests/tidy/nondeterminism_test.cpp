// tests/tidy/nondeterminism_test.cpp: nothing that could give the same run other bytes.
//
// Teeth:  seen failing with each banned name planted in sim/base/time.cpp, and passing again with
//         the name in a comment.
#include <catch2/catch.hpp>
#include <regex>

#include "tests/tidy/source_tree.h"

namespace tests_tidy {
namespace {

struct Ban {
  std::string name;
  std::regex pattern;
  std::string replacement;
};

const std::vector<Ban>& bans() {
  static const std::vector<Ban> list = {
      {"std::*_distribution", std::regex(R"(std::\w+_distribution\b)"),
       "failure_models/distribution.h: the library's differ between vendors"},
      {"std::random_device", std::regex(R"(\brandom_device\b)"), "sim/base/random.h, by name"},
      {"std::mt19937", std::regex(R"(\bmt19937)"), "sim/base/random.h, by name"},
      {"rand()", std::regex(R"(\bs?rand\s*\()"), "sim/base/random.h, by name"},
      {"std::shuffle", std::regex(R"(\bshuffle\s*\()"), "an order drawn with next_below()"},
      {"a clock", std::regex(R"(\b(system_clock|steady_clock|high_resolution_clock|gettimeofday|)"
                             R"(clock_gettime|strftime|localtime)\b)"),
       "simulated time, sim/base/time.h"},
      {"time(nullptr)", std::regex(R"(\btime\s*\(\s*(nullptr|NULL|0)\s*\))"),
       "simulated time, sim/base/time.h"},
      {"an unordered container", std::regex(R"(\bunordered_(multi)?(map|set)\b)"),
       "a sorted vector or std::map: its order is no function of the scenario"},
      {"std::reduce", std::regex(R"(\bstd::(transform_)?reduce\b)"),
       "std::accumulate, or a loop in index order"},
      {"atomics on floats", std::regex(R"(\batomic<\s*(float|double)\s*>)"),
       "sums in index order after joining"},
      {"the environment", std::regex(R"(\b(secure_)?getenv\s*\()"), "a key of the scenario"},
  };
  return list;
}

// Progress and syncing look at the clock, results never: in this one file.
bool is_excused(const SourceFile& file, const Ban& ban) {
  return file.path == "sim/experiment/stopwatch.cpp" && ban.name == "a clock";
}

std::vector<std::string> complaints_about(const SourceFile& file) {
  std::vector<std::string> complaints;
  int number = 0;
  for (const std::string& line : code_lines(file.text)) {
    ++number;
    for (const Ban& ban : bans()) {
      if (is_excused(file, ban)) continue;
      if (std::regex_search(line, ban.pattern)) {
        complaints.push_back(file.path + ":" + std::to_string(number) + ": uses " + ban.name +
                             "; use " + ban.replacement);
      }
    }
  }
  return complaints;
}

std::vector<std::string> flag_complaints(const SourceFile& file) {
  std::vector<std::string> complaints;
  for (const char* flag : {"-ffast-math", "-Ofast", "-march=native", "-funsafe-math"}) {
    if (file.text.find(flag) != std::string::npos) {
      complaints.push_back(file.path + ": uses " + flag + "; use the fixed level ATOLL_ISA");
    }
  }
  return complaints;
}

TEST_CASE("nondeterminism: every ban finds its breach and names the way out", "[unit][tidy]") {
  const std::vector<std::string> breaches = {
      "std::normal_distribution<double> d;", "std::random_device r;",   "std::mt19937_64 r(1);",
      "int x = rand();",                     "std::shuffle(a, b, r);",  "std::chrono::steady_clock c;",
      "long t = time(nullptr);",             "std::unordered_map<int, int> m;",
      "std::reduce(a, b);",                  "std::atomic<double> sum;", "getenv(name);"};
  for (const std::string& breach : breaches) {
    CAPTURE(breach);
    const auto complaints = complaints_about({"sim/x.cpp", "\n" + breach + "\n"});
    REQUIRE(complaints.size() == 1);
    CHECK(complaints[0].starts_with("sim/x.cpp:2: uses "));
    CHECK(complaints[0].find("; use ") != std::string::npos);
  }
  CHECK(flag_complaints({"CMakeLists.txt", "add_compile_options(-ffast-math)"}).size() == 1);
}

TEST_CASE("nondeterminism: words in comments, strings and longer names are free", "[unit][tidy]") {
  CHECK(complaints_about({"sim/x.cpp", "// no std::random_device here\n"}).empty());
  CHECK(complaints_about({"sim/x.cpp", "say(\"no rand() here\");\n"}).empty());
  CHECK(complaints_about({"sim/x.cpp", "operand(x); step_time(nullptr);\n"}).empty());
}

TEST_CASE("nondeterminism: the tree has none", "[unit][tidy]") {
  const auto files = files_below({"sim", "optim", "failure_models"}, {".h", ".cpp"});
  REQUIRE(files.size() > 50);
  for (const SourceFile& file : files) {
    CHECK(complaints_about(file) == std::vector<std::string>{});
  }
}

TEST_CASE("nondeterminism: no build file loosens arithmetic", "[unit][tidy]") {
  auto files = files_below({"sim", "optim", "failure_models", "tests"}, {".txt", ".cmake"});
  files.push_back({"CMakeLists.txt", text_of(fs::path(ATOLL_SOURCE_DIR) / "CMakeLists.txt")});
  files.push_back({"CMakePresets.json", text_of(fs::path(ATOLL_SOURCE_DIR) / "CMakePresets.json")});
  for (const SourceFile& file : files) {
    CHECK(flag_complaints(file) == std::vector<std::string>{});
  }
}

}  // namespace
}  // namespace tests_tidy

// tests/cli/interruption_test.cpp: Ctrl-C half way leaves whole results or none.
//
// Teeth:  seen failing with the hidden folder kept on an interruption, and with SIGTERM or
//         SIGHUP left at its default in the parent.
#include <catch2/catch.hpp>
#include <set>

#include "tests/cli/run_command.h"
#include "tests/cli/small_scenario.h"

namespace tests_cli {
namespace {

bool anything_hidden_below(const fs::path& root) {
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.path().filename().string().starts_with(".")) return true;
  }
  return false;
}

// Until the run writes into its hidden folder, so that the signal meets it half way.
bool wait_for_hidden(const fs::path& root) {
  for (int i = 0; i < 500; ++i) {
    std::error_code ignored;
    if (fs::exists(root / "results/long/decoupled-diloco", ignored)) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

TEST_CASE("interruption: SIGINT, SIGTERM and SIGHUP are handled alike and leave nothing", "[cli]") {
  for (const auto& [number, code] : {std::pair{SIGINT, 130}, std::pair{SIGTERM, 143}, std::pair{SIGHUP, 129}}) {
    CAPTURE(number);
    const Place place;
    place.write("long.toml", small_scenario());
    // Far longer than the test: ended by the signal only.
    const Started run({program(), "run", "long.toml", "--set", "marks.time=80 d"}, place.root);
    REQUIRE(wait_for_hidden(place.root));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    run.send(number);
    const Outcome got = run.wait();
    CHECK(got.exit_code == code);
    CHECK(got.out.empty());
    CHECK(got.err.empty());
    CHECK_FALSE(fs::exists(place.root / "results"));
  }
}

TEST_CASE("interruption: runs that were finished before stay, whole", "[cli]") {
  const Place place;
  place.write("long.toml", small_scenario());
  const std::vector<std::string> words = {program(), "run",    "long.toml", "--seeds",
                                          "1..200",  "--jobs", "1"};
  const Started run(words, place.root);
  const fs::path first = place.root / "results/long/decoupled-diloco/seed-1";
  for (int i = 0; i < 1000 && !fs::exists(first); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  REQUIRE(fs::exists(first));
  run.send(SIGINT);
  CHECK(run.wait().exit_code == 130);
  CHECK_FALSE(anything_hidden_below(place.root));
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(first)) {
    names.insert(entry.path().filename().string());
  }
  for (const auto& folder : fs::directory_iterator(first.parent_path())) {
    for (const std::string& name : names) CHECK(fs::exists(folder.path() / name));
  }
}

}  // namespace
}  // namespace tests_cli

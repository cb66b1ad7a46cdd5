// tests/cases/barriers_test.cpp: learners that meet at barriers, one rule for faults whatever their level.
//
// Goal:   when the others notice a dead member, what its host's copy is worth, and what a flapping link
//         makes of an all-reduce.
// Method: merges counted just before and just after the date that a hand calculation gives.
//         d08, d09: three learners, H = 100 steps of 1 s, 4 GB of outer gradients over 50 MB/s. A ring of
//         three carries 2 x 2/3 of that: 106.7 s, from 100 s to 206.7 s; a ring of two 80 s. r2 dies at
//         150 s, in the middle.
// Teeth:  seen failing with an all-reduce that is run again at once whatever the detection (231 for 351), with
//         one that its dead member does not break (287 for 231), with regions left out as soon as they are cut off,
//         and with steps of 0 ns (signal 8).
#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "tests/cases/case_run.h"

namespace tests_cases {

namespace {

struct Merges {
  int merged, contributions;
  bool operator==(const Merges&) const = default;
};

Merges merges_until(const std::string& name, double seconds, std::vector<std::string> sets = {}) {
  sets.push_back(fmt::format("marks.time=\"{} s\"", seconds));
  const auto summary = run_case(name, "", sets);
  CHECK(summary["properties"]["violation_count"] == 0);
  return {summary["syncs"]["merged"], summary["syncs"]["contributions"]};
}

// The first merge happens at `date`, of so many.
void check_first_merge(const std::string& name, double date, int contributors) {
  CAPTURE(name);
  CHECK(merges_until(name, date - 0.5) == Merges{0, 0});
  CHECK(merges_until(name, date + 0.5) == Merges{1, contributors});
}

}  // namespace

// 150 + 80 = 230 s, and 150 + 120 + 80 = 350 s: rows 231 and 351 of steps.csv.
TEST_CASE("cases: the others notice a dead member after the detection", "[cases]") {
  check_first_merge("d08_detection_0", 230, 2);
  check_first_merge("d08_detection_120", 350, 2);
}

// A chip or a slice leaves the host, which holds what was taken and brings the all-reduce to its end with it.
TEST_CASE("cases: what leaves the host leaves what the host brings", "[cases]") {
  check_first_merge("d09_same_event_chip", 206.67, 3);
  check_first_merge("d09_same_event_slice", 206.67, 3);
}

TEST_CASE("cases: what takes the host takes what it brings", "[cases]") {
  check_first_merge("d09_same_event_island", 230, 2);
  check_first_merge("d09_same_event_region", 230, 2);
}

// 600 = 100 + 5 rounds of 100 s and 80 s each, all of two learners.
TEST_CASE("cases: two learners that nothing disturbs merge together", "[cases]") {
  CHECK(merges_until("d07_noflap", 1000) == Merges{5, 10});
}

// The link is down for a second in every thirty and an all-reduce takes 80 s: none fits. Each breaks at the
// next blink, and who can be reached merges alone, which a contribution a merge tells.
TEST_CASE("cases: a flapping link makes lone merges, and they are told", "[cases]") {
  const Merges flapping = merges_until("d07_flap", 1000);
  CHECK(flapping.merged == 8);
  CHECK(flapping.contributions == 8);
}

// With a detection of five seconds nobody takes a blink for an absence: they try again and again while it
// flaps (to 971 s), and then it takes until 1051 s.
TEST_CASE("cases: who is unreachable for less than the detection is not left out", "[cases]") {
  const std::vector<std::string> patient = {"training.detection=\"5 s\""};
  CHECK(merges_until("d07_flap", 1050.5, patient) == Merges{0, 0});
  CHECK(merges_until("d07_flap", 1051.5, patient) == Merges{1, 2});
}

// Nobody is left at 900 s: 5 rounds are lost, and the first one back begins anew (no save came before 30 min).
TEST_CASE("cases: with the last host all steps since the last save are gone", "[cases]") {
  const auto summary = run_case("d10_all_dead_diloco");
  CHECK(summary["goodput"]["token"].get<double>() == Approx(0.2133).margin(0.0001));
  CHECK(summary["properties"]["violation_count"] == 0);
}

// 6e6 FLOP on 64 H100 take 0.24 ns, less than the clock's grain: refused by name. With ten tokens a step is
// 2.4 ns, and there is a result: the one slice is dead from the beginning to the end.
TEST_CASE("cases: one learner of dead slices, without links, ends with a result", "[cases]") {
  const auto refused = load_case("crash-division");
  REQUIRE(refused.diagnostics.size() == 1);
  CHECK(refused.diagnostics[0].key == "model.batch_tokens");
  const auto summary = run_case("crash-division", "", {"model.batch_tokens=10"});
  CHECK(summary["tokens"] == 0);
  CHECK(summary["steps"] == 0);
}

}  // namespace tests_cases

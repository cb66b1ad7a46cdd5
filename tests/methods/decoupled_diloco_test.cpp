// tests/methods/decoupled_diloco_test.cpp: Decoupled DiLoCo's learners and syncer by the clock.
//
// Goal:   takes, merges and adoptions happen when Algorithms 1 and 2 say, and failures do what the
//         headers say.
// Method: no network (transfers take no time), steps of one second, two learners; dates by hand.
// Teeth:  seen failing with a learner that is not elastic taken for alive while it waits for repair.
#include <catch2/catch.hpp>

#include "tests/methods/world_fixture.h"

namespace sim::methods {
namespace {

using tape::Kind;

Setup two_learners() {
  Setup setup;
  setup.add_island("a", "here");
  setup.add_island("b", "here");
  return setup;
}

std::vector<Nanoseconds> dates_of(const Lived& lived, Kind kind) {
  std::vector<Nanoseconds> dates;
  for (const auto& fact : lived.recorder.of(kind)) dates.push_back(fact.at);
  return dates;
}

// P = H = 2: fragment t mod 2 at every global step t, from both learners; what is merged at second
// t is adopted after step t + 1, so every lag is 1.
TEST_CASE("decoupled diloco: one fragment is merged at every step and adopted one step later",
          "[methods]") {
  const Lived lived = live(two_learners());
  const auto merges = lived.recorder.of(Kind::kFragmentMerged);
  REQUIRE(merges.size() == 60);
  for (std::size_t i = 0; i < merges.size(); ++i) {
    CAPTURE(i);
    CHECK(merges[i].at == static_cast<Nanoseconds>(i + 1) * kSecond);
    CHECK(merges[i].fragment_merged.fragment == (i + 1) % 2);
    CHECK(merges[i].fragment_merged.version == i / 2 + 1);
    CHECK(lived.recorder.contributors[i].size() == 2);
  }
  for (const auto& fact : lived.recorder.of(Kind::kFragmentAdopted)) {
    CHECK(fact.fragment_adopted.lag_steps == 1);
  }
  CHECK(lived.account->properties().violation_count() == 0);
}

// Counters restart when a version is received, one step after its take, so each later take of a
// fragment counts H - 1 = 1 step of 2048 tokens; the first counts all steps since the start.
TEST_CASE("decoupled diloco: counters restart on receipt, not on take", "[methods]") {
  const Lived lived = live(two_learners());
  const auto takes = lived.recorder.of(Kind::kFragmentTaken);
  REQUIRE(takes.size() == 120);
  CHECK(takes[0].fragment_taken.counted_steps == 1);
  CHECK(takes[2].fragment_taken.counted_steps == 2);
  for (std::size_t i = 4; i < takes.size(); ++i) {
    CHECK(takes[i].fragment_taken.counted_steps == 1);
    CHECK(takes[i].fragment_taken.counted_tokens == 2048);
  }
}

// Quorum two, learner b's island dies at 10.5 s for 20 s and restarts for 5 s: no merge between 10
// and 36.5. It copies learner a, who stands at step 35, and goes on with step 36 at once.
TEST_CASE("decoupled diloco: a quorum that is not there stops merges, never a learner",
          "[methods]") {
  Setup setup = two_learners();
  setup.training.quorum = 2;
  setup.kill(tape::TargetKind::kIsland, "b", 10'500 * kMillisecond, 20 * kSecond);
  const Lived lived = live(setup);
  for (const Nanoseconds date : dates_of(lived, Kind::kFragmentMerged)) {
    CHECK((date <= 10 * kSecond || date >= 36'500 * kMillisecond));
  }
  const auto copies = lived.recorder.of(Kind::kStateCopied);
  REQUIRE(copies.size() == 1);
  CHECK(copies[0].at == 35'500 * kMillisecond);
  CHECK(copies[0].state_copied.step == 35);
  CHECK(copies[0].state_copied.donor == 0);
  std::uint32_t steps_of_a = 0;
  for (const auto& fact : lived.recorder.of(Kind::kStepsDone)) {
    if (fact.steps_done.learner == 0) steps_of_a += fact.steps_done.count;
  }
  CHECK(steps_of_a == 60);
  CHECK(lived.account->properties().sometimes().merges_by_new_lives == 1);
  CHECK(lived.account->properties().violation_count() == 0);
}

// All slices of b go, one by one, as chips do: its hosts keep their copy. Back after 2 s and a
// restart of 5 s: 7 steps missed, more than resume_within = 4, so it copies; with 10 it resumes.
TEST_CASE("decoupled diloco: a short outage resumes stale, a long one copies a peer", "[methods]") {
  Setup setup = two_learners();
  setup.kill(tape::TargetKind::kChip, "b/slice-1", 10'500 * kMillisecond, 2 * kSecond);
  setup.kill(tape::TargetKind::kChip, "b/slice-2", 10'500 * kMillisecond, 2 * kSecond);
  Lived lived = live(setup);
  CHECK(lived.recorder.of(Kind::kStateCopied).size() == 1);
  setup.training.resume_within = 10;
  lived = live(setup);
  CHECK(lived.recorder.of(Kind::kStateCopied).empty());
  CHECK(lived.account->properties().violation_count() == 0);
  // Either way it goes on at the global step, 17, not at 10: lost slots are not replayed.
  for (const auto& fact : lived.recorder.of(Kind::kStepsDone)) {
    if (fact.steps_done.learner == 1 && fact.at > 12 * kSecond) {
      CHECK(fact.steps_done.first_step == 18);
      break;
    }
  }
}

// b is not elastic: slice 1 stops all of it from 10.5 s, back at 30.5 s, restarted at 35.5 s. 25 steps
// were missed, more than resume_within = 4, so it copies a and goes on at the global step.
TEST_CASE("decoupled diloco: a learner stopped by one slice is out like one that lost all",
          "[methods]") {
  Setup setup = two_learners();
  setup.training.elasticity.elastic = false;
  setup.kill(tape::TargetKind::kSlice, "b/slice-1", 10'500 * kMillisecond, 20 * kSecond);
  const Lived lived = live(setup);
  const auto copies = lived.recorder.of(Kind::kStateCopied);
  REQUIRE(copies.size() == 1);
  CHECK(copies[0].at == 35'500 * kMillisecond);
  CHECK(copies[0].state_copied.step == 35);
  std::size_t merge = 0;
  for (const auto& fact : lived.recorder.of(Kind::kFragmentMerged)) {
    const bool away = fact.at > 10'500 * kMillisecond && fact.at < 35'500 * kMillisecond;
    if (away) CHECK(lived.recorder.contributors[merge].back().learner == 0);
    ++merge;
  }
  CHECK(lived.account->properties().violation_count() == 0);
}

// A step of b takes 1.25 s. Without grace, K = 1, every report opens a global step: a reports at 1,
// 2, ..., 12 s, b at 1.25, 2.5, ..., 11.25 s, together at 5 and 10 s: 12 + 9 - 2 steps.
TEST_CASE("decoupled diloco: without grace a report opens a global step", "[methods]") {
  Setup setup;
  setup.add_island("a", "here");
  setup.add_island("b", "here", 0.8);
  setup.duration = 12 * kSecond;
  const Lived lived = live(setup);
  CHECK(lived.recorder.of(Kind::kGraceDecided).size() == 12 + 9 - 2);
}

}  // namespace
}  // namespace sim::methods

// tests/methods/overload_test.cpp: links that carry less than the merges ask for.
//
// Goal:   an overloaded link skips fragments or merges them late, as asked, and no learner ever waits.
// Method: two regions, a link on which one merge takes five steps; which merges begin is counted by
//         hand.
// Teeth:  seen failing with the limit on syncs in flight removed, with what was late put at the end of
//         the queue, and with turns kept by the fragment that is due (which starved the others).
#include <catch2/catch.hpp>

#include "tests/methods/forked_world.h"

namespace sim::methods {
namespace {

using tape::Kind;

// Fragments of 1 MB, in a ring of two 1 MB each way at 0.2 MB/s: 5 s; with delays, pull and fold 5.02 s.
Setup overloaded(LatePolicy late) {
  Setup setup;
  setup.use_network(2, 2e5);
  setup.add_island("a", "r0");
  setup.add_island("b", "r1");
  setup.training.quorum = 2;
  setup.training.late = late;
  return setup;
}

void check_no_learner_stalls(const Lived& lived) {
  std::array<std::uint32_t, 2> steps{};
  for (const auto& fact : lived.recorder.of(Kind::kStepsDone)) {
    const auto& done = fact.steps_done;
    CHECK(done.start == static_cast<Nanoseconds>(steps[done.learner]) * kSecond);
    CHECK(done.period == kSecond);
    steps[done.learner] += done.count;
  }
  CHECK(steps == std::array<std::uint32_t, 2>{60, 60});
}

// A sync begun at step s ends 5.03 s later, after the report of step s + 5. At s + 6 the same fragment is
// due again, and the other has waited longer: it takes the turn. So they merge alternately at steps 1, 7,
// ..., 55, of which the last is still under way at 60 s. Of 59 turns decided before, those at 1, 13, ...,
// 49 are the due fragment's own, all others skip it.
TEST_CASE("overload: what finds no room is skipped with its reason, and all merge in turn",
          "[methods]") {
  const Lived lived = live_forked(overloaded(LatePolicy::kSkip));
  const auto skipped = lived.recorder.of(Kind::kFragmentSkipped);
  REQUIRE(skipped.size() == 59 - 5);
  for (const auto& fact : skipped) {
    CHECK(fact.fragment_skipped.reason == tape::LossReason::kInFlightLimit);
  }
  const auto merges = lived.recorder.of(Kind::kFragmentMerged);
  REQUIRE(merges.size() == 9);
  for (std::size_t i = 0; i < merges.size(); ++i) {
    CHECK(merges[i].fragment_merged.step == 1 + 6 * i);
    CHECK(merges[i].fragment_merged.fragment == (i + 1) % 2);
  }
  check_no_learner_stalls(lived);
}

// What has waited longest goes first: at step 7 that is fragment 0, late since step 2; then they take
// turns, every six steps.
TEST_CASE("overload: what finds no room is merged late, the longest due first", "[methods]") {
  const Lived lived = live_forked(overloaded(LatePolicy::kMerge));
  CHECK(lived.recorder.of(Kind::kFragmentSkipped).empty());
  const auto merges = lived.recorder.of(Kind::kFragmentMerged);
  REQUIRE(merges.size() == 9);
  for (std::size_t i = 0; i < merges.size(); ++i) {
    CHECK(merges[i].fragment_merged.step == 1 + 6 * i);
    CHECK(merges[i].fragment_merged.fragment == (i + 1) % 2);
  }
  check_no_learner_stalls(lived);
}

}  // namespace
}  // namespace sim::methods

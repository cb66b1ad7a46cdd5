// tests/methods/degenerate_test.cpp: the method's corners: a synchronous schedule, and nothing left.
//
// Goal:   K = M with adoption pinned has exactly the schedule of streaming DiLoCo, whatever the network
//         (laws 7 and 9); a world in which all is down says so (law 10).
// Method: every take, merge and adoption against t mod H = floor(p H / P) and tau, on a network without
//         time, a fast one, and one slower than the steps.
// Teeth:  seen failing with adoption one step early, with the limit on syncs in flight kept for learners
//         that wait, and with a report that was cut off not told again.
#include <catch2/catch.hpp>

#include <set>

#include "tests/methods/forked_world.h"

namespace sim::methods {
namespace {

using tape::Kind;
using tape::TargetKind;

// P = 3, H = 8: offsets 0, floor(8/3) = 2, floor(16/3) = 5.
Setup streaming(std::int64_t overlap_steps) {
  Setup setup;
  auto& t = setup.training;
  t.fragments = 3;
  t.sync_every = 8;
  t.overlap_steps = overlap_steps;
  t.adoption = Adoption::kPinned;
  t.quorum = 2;
  t.token_weights = false;
  setup.add_island("a", "here");
  setup.add_island("b", "here");
  return setup;
}

void place_in_regions(Setup& setup, double bytes_per_s) {
  setup.use_network(2, bytes_per_s);
  setup.islands[0].region = "r0";
  setup.islands[1].region = "r1";
}

std::int64_t offset(std::uint16_t fragment) { return fragment == 0 ? 0 : fragment == 1 ? 2 : 5; }

void check_schedule(const Lived& lived, std::int64_t overlap_steps, std::size_t fewest_merges) {
  std::size_t index = 0;
  for (const auto& fact : lived.recorder.of(Kind::kFragmentMerged)) {
    CHECK(lived.recorder.contributors[index].size() == 2);
    for (const auto& c : lived.recorder.contributors[index]) CHECK(c.weight == 1.0);
    CHECK(fact.fragment_merged.step % 8 == offset(fact.fragment_merged.fragment));
    ++index;
  }
  CHECK(index >= fewest_merges);
  for (const auto& fact : lived.recorder.of(Kind::kFragmentTaken)) {
    CHECK(fact.fragment_taken.step % 8 == offset(fact.fragment_taken.fragment));
  }
  for (const auto& fact : lived.recorder.of(Kind::kFragmentAdopted)) {
    CHECK((fact.fragment_adopted.step - overlap_steps) % 8 == offset(fact.fragment_adopted.fragment));
    CHECK(fact.fragment_adopted.lag_steps == overlap_steps);
  }
  CHECK(lived.recorder.of(Kind::kFragmentSkipped).empty());
  CHECK(lived.recorder.of(Kind::kFragmentLost).empty());
  CHECK(lived.account->properties().violation_count() == 0);
}

// 60 steps: fragment 0 at 8, ..., 56, fragment 1 at 2, ..., 58, fragment 2 at 5, ..., 53.
TEST_CASE("streaming: pinned adoption with all learners is its schedule", "[methods]") {
  for (const std::int64_t tau : {0, 1, 3}) {
    const Lived lived = live(streaming(tau));
    CHECK(lived.recorder.of(Kind::kFragmentMerged).size() == 7 + 8 + 7);
    check_schedule(lived, tau, 22);
  }
}

TEST_CASE("streaming: a fast network changes nothing but dates", "[methods]") {
  Setup setup = streaming(1);
  place_in_regions(setup, 1e8);
  check_schedule(live_forked(setup), 1, 21);
}

// A third of a megabyte (times two bytes) in the ring: 0.67 MB at 0.15 MB/s is 4.4 s, more than the three
// steps of overlap: learners wait, the schedule stands. At P = H every step is due: with tau = 1 two syncs
// are in flight.
TEST_CASE("streaming: a network slower than the steps stretches the clock only", "[methods]") {
  Setup setup = streaming(3);
  place_in_regions(setup, 1.5e5);
  Lived lived = live_forked(setup);
  check_schedule(lived, 3, 12);
  bool waited = false;
  for (const auto& fact : lived.recorder.of(Kind::kActivityChanged)) {
    waited |= fact.activity_changed.activity == tape::Activity::kWaitingForMerge;
  }
  CHECK(waited);

  setup.training.sync_every = 3;
  setup.training.overlap_steps = 1;
  lived = live_forked(setup);
  CHECK(lived.recorder.of(Kind::kFragmentSkipped).empty());
  std::uint32_t step = 0;
  for (const auto& fact : lived.recorder.of(Kind::kFragmentMerged)) {
    CHECK(fact.fragment_merged.step == ++step);
  }
  CHECK(step >= 10);
}

// The report of step 10, 10 ms on its way from 10 s on, is cut off at 10.005 s: its learner waits, and
// tells it again when the link is back.
TEST_CASE("streaming: a report that a cut swallowed is told again", "[methods]") {
  Setup setup = streaming(1);
  place_in_regions(setup, 1e7);
  setup.partition(TargetKind::kLink, "r0--r1", 10'005 * kMillisecond, 5 * kSecond);
  const Lived lived = live_forked(setup);
  CHECK(lived.recorder.of(Kind::kFragmentMerged).back().at > 57 * kSecond);
  CHECK(lived.account->properties().violation_count() == 0);
}

// The only island is down from the start to the end: all chip time is failed time.
TEST_CASE("all down: goodput stops, and the chips' time is booked as failed", "[methods]") {
  for (const MethodKind method : {MethodKind::kDecoupledDiloco, MethodKind::kDataParallel}) {
    Setup setup;
    setup.training.method = method;
    if (method == MethodKind::kDataParallel) setup.training.learners = LearnerSplit::kOne;
    setup.add_island("a", "here");
    setup.kill(TargetKind::kIsland, "a", 0, kNever);
    const Lived lived = live(setup);
    CHECK_FALSE(lived.stuck);  // the end of the run still comes
    const auto& account = *lived.account->at_end();
    CHECK(account.goodput.time == 0);
    CHECK(account.merged_tokens == 0);
    CHECK(account.activity.buckets[readers::Bucket::kFailed] ==
          account.activity.buckets.sum());
  }
}

// Nobody is left and no end is due: the conductor says so instead of returning as if all were well.
TEST_CASE("all down: a world in which nothing can happen any more is noticed", "[methods]") {
  Setup setup;
  setup.add_island("a", "here");
  setup.kill(TargetKind::kIsland, "a", 5 * kSecond, kNever);
  setup.duration = kNever;
  CHECK(live(setup).stuck);
}

}  // namespace
}  // namespace sim::methods

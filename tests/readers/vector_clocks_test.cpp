// tests/readers/vector_clocks_test.cpp: who knows what of whom, by hand.
//
// Goal:   clocks move with messages and with nothing else; what cannot be is a violation.
// Method: ten facts of two learners and their syncer, every entry worked out beside them; then one
//         planted mistake each.
// Teeth:  seen failing with the take's clock read at the merge instead of at the take, with the version's
//         clock read at the adoption, without the donor's clock, and with entries overwritten instead of
//         taken by maximum.
#include "sim/readers/vector_clocks.h"

#include <catch2/catch.hpp>

#include "tests/readers/hand_written_run.h"

namespace sim::readers {
namespace {

using namespace hand;

RunShape shape_of_two() {
  RunShape shape = two_learners();
  shape.fragment_parameters.assign(2, 100);
  return shape;
}

StepsDone ran(std::uint16_t learner, std::uint32_t first, std::uint32_t count,
                std::uint16_t incarnation = 1) {
  StepsDone fact{};
  fact.period = 1_s;
  fact.first_step = first;
  fact.count = count;
  fact.learner = learner;
  fact.incarnation = incarnation;
  return fact;
}

FragmentTaken took(std::uint32_t sync, std::uint16_t fragment, std::uint16_t learner,
                    std::uint32_t step) {
  FragmentTaken fact{};
  fact.sync = sync;
  fact.step = step;
  fact.learner = learner;
  fact.incarnation = 1;
  fact.fragment = fragment;
  return fact;
}

FragmentMerged made(std::uint32_t sync, std::uint16_t fragment, std::uint32_t step,
                      const std::vector<Contributor>& from) {
  FragmentMerged fact{};
  fact.contributors = from.data();
  fact.contributor_count = static_cast<std::uint32_t>(from.size());
  fact.sync = sync;
  fact.version = 1;
  fact.step = step;
  fact.fragment = fragment;
  fact.epoch = 1;
  return fact;
}

FragmentAdopted got(std::uint32_t sync, std::uint16_t fragment, std::uint16_t learner) {
  FragmentAdopted fact{};
  fact.sync = sync;
  fact.version = 1;
  fact.learner = learner;
  fact.incarnation = 1;
  fact.fragment = fragment;
  fact.epoch = 1;
  return fact;
}

const std::vector<Contributor> kFirst = {{1.0, 0, 1}}, kBoth = {{1.0, 0, 1}, {1.0, 1, 1}};

std::vector<std::uint32_t> row(const VectorClocks& clocks, std::size_t worker) {
  return {clocks.known(worker, 0), clocks.known(worker, 1), clocks.known(worker, 2)};
}

TEST_CASE("vector clocks: ten facts of two learners, every entry by hand", "[unit][readers]") {
  const RunShape shape = shape_of_two();
  VectorClocks clocks(shape);
  using Row = std::vector<std::uint32_t>;
  clocks.on({3_s, ran(0, 1, 3)});
  clocks.on({3_s, ran(1, 1, 2)});
  clocks.on({3_s, took(7, 0, 0, 3)});       // carries (3, 0, 0)
  clocks.on({5_s, ran(0, 4, 2)});          // after the take: the message does not know
  CHECK(row(clocks, 0) == Row{5, 0, 0});
  CHECK(row(clocks, 2) == Row{0, 0, 0});
  clocks.on({5_s, made(7, 0, 3, kFirst)});  // the syncer at its step 3; the version carries (3, 0, 3)
  CHECK(row(clocks, 2) == Row{3, 0, 3});
  clocks.on({5_s, took(8, 1, 1, 2)});       // carries (0, 2, 0)
  clocks.on({6_s, took(8, 1, 0, 5)});       // carries (5, 0, 0)
  clocks.on({6_s, made(8, 1, 4, kBoth)});  // (5, 2, 4)
  CHECK(row(clocks, 2) == Row{5, 2, 4});
  clocks.on({7_s, got(7, 0, 1)});        // the older version: (3, 0, 3) onto (0, 2, 0)
  CHECK(row(clocks, 1) == Row{3, 2, 3});
  CHECK(clocks.watermark().step == 0);       // learner 0 knows nothing of learner 1
  clocks.on({7_s, got(8, 1, 0)});        // (5, 2, 4) onto (5, 0, 0)
  CHECK(row(clocks, 0) == Row{5, 2, 4});
  CHECK(clocks.watermark().step == 2);       // all have seen all others pass step 2
  CHECK(clocks.watermark().live_workers == 3);
  CHECK(clocks.violation_count() == 0);
  CHECK(clocks.overtaken_broadcasts() == 0);

  // Learner 1 waits for repair: the others know of each other up to 3 (the syncer's 4 and 5).
  clocks.on({8_s, ActivityChanged{1, Activity::kWaitingForRepair}});
  CHECK(clocks.watermark().step == 4);
  CHECK(clocks.watermark().live_workers == 2);
}

TEST_CASE("vector clocks: a copied state brings the donor's clock as it was sent", "[unit][readers]") {
  const RunShape shape = shape_of_two();
  VectorClocks clocks(shape);
  clocks.on({1_s, ran(0, 1, 4)});
  clocks.on({1_s, took(0, 0, 0, 4)});
  clocks.on({1_s, made(0, 0, 4, kFirst)});
  clocks.on({1_s, got(0, 0, 0)});
  clocks.on({1_s, StateSent{9, 0, 1}});  // carries (4, 0, 4)
  clocks.on({3_s, ran(0, 5, 2)});
  clocks.on({3_s, StateCopied{9, 6, 0, 1, 2}});
  CHECK(clocks.known(1, 0) == 4);
  CHECK(clocks.known(1, 1) == 6);
  CHECK(clocks.known(1, 2) == 4);
  CHECK(clocks.violation_count() == 0);
}

TEST_CASE("vector clocks: what was overtaken on its channel is counted", "[unit][readers]") {
  const RunShape shape = shape_of_two();
  VectorClocks clocks(shape);
  clocks.on({1_s, ran(0, 1, 1)});
  clocks.on({1_s, ran(1, 1, 1)});
  clocks.on({1_s, took(0, 0, 0, 1)});
  clocks.on({1_s, took(1, 1, 0, 1)});
  clocks.on({2_s, made(1, 1, 1, kFirst)});  // taken second, merged first
  clocks.on({3_s, made(0, 0, 1, kFirst)});
  CHECK(clocks.overtaken_takes() == 1);
  clocks.on({4_s, got(0, 0, 1)});         // merged second, adopted first
  clocks.on({4_s, got(1, 1, 1)});
  CHECK(clocks.overtaken_broadcasts() == 1);
  CHECK(clocks.violation_count() == 0);       // two fragments: not promised
}

TEST_CASE("vector clocks: what cannot be is a violation", "[unit][readers]") {
  const RunShape shape = shape_of_two();
  VectorClocks clocks(shape);
  clocks.on({1_s, ran(0, 1, 3)});
  SECTION("a message received before it was sent") {
    clocks.on({2_s, got(5, 0, 1)});
    REQUIRE(clocks.violation_count() == 1);
    CHECK(clocks.violations()[0] ==
          "clocks at 2.000000000 s: learner 1 receives version 1 of fragment 0 before it was sent");
  }
  SECTION("a take that was never sent") {
    clocks.on({2_s, made(5, 0, 1, kFirst)});
    REQUIRE(clocks.violation_count() == 1);
    CHECK(clocks.violations()[0] ==
          "clocks at 2.000000000 s: sync 5 receives from learner 0 what it never sent");
  }
  SECTION("a learner's own clock falls within a life") {
    clocks.on({2_s, ran(0, 3, 1)});
    REQUIRE(clocks.violation_count() == 1);
    CHECK(clocks.violations()[0] ==
          "clocks at 2.000000000 s: the clock of learner 0 falls from 3 to 3 within a life");
  }
  SECTION("the syncer's own clock falls") {
    clocks.on({2_s, GraceDecided{0, 0, 0, 0, 5}});
    clocks.on({2_s, GraceDecided{0, 0, 0, 0, 4}});
    REQUIRE(clocks.violation_count() == 1);
    CHECK(clocks.violations()[0] == "clocks at 2.000000000 s: the syncer's clock falls from 5 to 4");
  }
  SECTION("two versions of a fragment change places on one channel") {
    for (std::uint32_t sync = 0; sync < 2; ++sync) {
      clocks.on({2_s, took(sync, 0, 0, 3)});
      clocks.on({2_s, made(sync, 0, sync + 1, kFirst)});
    }
    clocks.on({3_s, got(1, 0, 1)});
    clocks.on({3_s, got(0, 0, 1)});
    REQUIRE(clocks.violation_count() == 1);
    CHECK(clocks.violations()[0] ==
          "clocks at 3.000000000 s: version 1 of fragment 0 reaches learner 1 after a newer one");
  }
}

}  // namespace
}  // namespace sim::readers

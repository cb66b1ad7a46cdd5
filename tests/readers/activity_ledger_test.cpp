// tests/readers/activity_ledger_test.cpp: every chip's every nanosecond, by hand.
//
// Goal:   chip-seconds land in the bucket that the header names, and close (law 3).
// Method: tapes of about ten facts added up in the comments; random cuts of stretches.
// Teeth:  seen failing with failed slices left in the learner's chips, with the interrupted step
//         counted as computation, with a rollback that forgets to take back computation, and with waiting
//         for the slowest slice counted as computation.
#include "sim/readers/activity_ledger.h"

#include <catch2/catch.hpp>

#include "sim/readers/goodput.h"
#include "tests/readers/hand_written_run.h"

namespace sim::readers {
namespace {

using namespace hand;
using Catch::Matchers::WithinAbs;

double seconds_in(const ActivityTotals& totals, Bucket bucket) {
  return to_chip_seconds(totals.buckets[bucket]);
}

// Whole chip-seconds below 2^53 ns are exact up to the one rounding of the conversion.
auto exactly(double value) { return WithinAbs(value, 1e-9); }

TEST_CASE("activity ledger: a lost slice is added up by hand", "[unit][readers]") {
  const RunShape shape = two_learners();
  ActivityLedger ledger(shape);
  play(lost_and_found(), ledger);
  const ActivityTotals totals = ledger.snapshot(50_s);
  // Learner 0: two steps of 8 s on 4 chips and one on 2, learner 1: ten of 4 s on 4 chips.
  CHECK_THAT(seconds_in(totals, Bucket::kCompute), exactly(2 * 8 * 4 + 8 * 2 + 10 * 4 * 4));
  CHECK_THAT(seconds_in(totals, Bucket::kExposedCommunication),
             exactly(2 * 2 * 4 + 2 * 2 + 10 * 1 * 4));
  CHECK_THAT(seconds_in(totals, Bucket::kInterruptedStep), exactly(5 * 4));  // 20 s to 25 s
  CHECK_THAT(seconds_in(totals, Bucket::kDetecting), exactly(5 * 2));        // one slice left
  CHECK_THAT(seconds_in(totals, Bucket::kDownscaling), exactly(2 * 2));
  CHECK_THAT(seconds_in(totals, Bucket::kUpscaling), exactly(3 * 2));
  CHECK_THAT(seconds_in(totals, Bucket::kUnfinishedStep), exactly(5 * 4));   // 45 s to 50 s
  CHECK_THAT(seconds_in(totals, Bucket::kFailed), exactly(15 * 2));          // 25 s to 40 s
  CHECK_THAT(seconds_in(totals, Bucket::kWaitingToJoin), exactly(5 * 2));    // 40 s to 45 s
  CHECK_THAT(seconds_in(totals, Bucket::kUnused), exactly(50 * 2));
  CHECK(totals.buckets.sum() == chip_time(10, 50_s));
}

TEST_CASE("goodput: each measure follows its formula", "[unit][readers]") {
  const RunShape shape = two_learners();
  ActivityLedger ledger(shape);
  play(lost_and_found(), ledger);
  const Goodput measures = goodput(shape, ledger.snapshot(50_s), 700);
  // Fleet: 10 chips for 50 s = 500. Learner 0: 30 s useful of which 10 s on half of its slices.
  CHECK_THAT(measures.time, WithinAbs((4 * 30 + 4 * 50) / 500.0, 1e-15));
  CHECK_THAT(measures.stepping, WithinAbs((4 * 25 + 4 * 50) / 500.0, 1e-15));
  CHECK_THAT(measures.chip, WithinAbs(240 / 500.0, 1e-15));
  CHECK_THAT(measures.token, WithinAbs(700 / (30 * 50.0), 1e-15));
  CHECK_THAT(measures.uptime, WithinAbs(1.0, 0));  // learner 1 always steps
  CHECK_THAT(measures.compute_utilization, WithinAbs(0.8, 1e-15));
}

TEST_CASE("activity ledger: a rollback moves whole steps out of the useful ones", "[unit][readers]") {
  const RunShape shape = data_parallel();
  ActivityLedger ledger(shape);
  play(rolled_back_run(), ledger);
  const ActivityTotals totals = ledger.snapshot(12_s);
  // Nine steps of 1 s were done, 5-7 are undone: six stand, with 0.8 s of computation on 4 chips.
  CHECK_THAT(seconds_in(totals, Bucket::kCompute), exactly(6 * 0.8 * 4));
  CHECK_THAT(seconds_in(totals, Bucket::kExposedCommunication), exactly(6 * 0.2 * 4));
  CHECK_THAT(seconds_in(totals, Bucket::kRolledBack), exactly(3 * 4));
  CHECK_THAT(seconds_in(totals, Bucket::kSavingCheckpoint), exactly(1 * 4));
  CHECK_THAT(seconds_in(totals, Bucket::kLoadingCheckpoint), exactly(2 * 4));
  const Goodput measures = goodput(shape, totals, 0);
  CHECK_THAT(measures.time, WithinAbs(6 / 12.0, 1e-15));
  CHECK_THAT(measures.uptime, WithinAbs(9 / 12.0, 1e-15));  // undone steps were up, too
}

TEST_CASE("activity ledger: a rollback cuts a stretch in two", "[unit][readers]") {
  const RunShape shape = data_parallel();
  ActivityLedger ledger(shape);
  // No checkpoint at step 5 is told apart: the stretch 1-8 was told in one fact, then back to 5.
  play({{0_s, ActivityChanged{0, Activity::kStepping}},
        {8_s, steps(0, 1, 8, 0_s, 1_s)},
        {8_s, ActivityChanged{0, Activity::kRestarting}},
        {9_s, RolledBack{5, 0, 2}},
        {9_s, RunEnded{0}}},
       ledger);
  const ActivityTotals totals = ledger.snapshot(9_s);
  CHECK_THAT(seconds_in(totals, Bucket::kRolledBack), exactly(3 * 4));  // steps 6, 7, 8
  CHECK_THAT(seconds_in(totals, Bucket::kCompute), exactly(5 * 0.8 * 4));
}

TEST_CASE("activity ledger: a step that outlives a loss counts the chips it had", "[unit][readers]") {
  const RunShape shape = two_learners();
  ActivityLedger ledger(shape);
  // Slice 1 fails 4 s into a step of 10 s whose first 8 s are computation; the step is finished.
  play({{0_s, ActivityChanged{0, Activity::kStepping}},
        {4_s, SliceChanged{1, SliceState::kFailed}},
        {10_s, steps(0, 1, 1, 0_s, 10_s)},
        {10_s, ActivityChanged{0, Activity::kDownscaling}}},
       ledger);
  const ActivityTotals totals = ledger.snapshot(10_s);
  CHECK_THAT(seconds_in(totals, Bucket::kCompute), exactly(4 * 4 + 4 * 2));
  CHECK_THAT(seconds_in(totals, Bucket::kExposedCommunication), exactly(2 * 2));
  CHECK_THAT(seconds_in(totals, Bucket::kInterruptedStep), exactly(0));
  CHECK_THAT(seconds_in(totals, Bucket::kStarting), exactly(10 * 4));  // learner 1 never began
  // Useful slice-time: 4 s with both slices and 6 s with one of two: 4 + 3 = 7 s of 4 chips.
  CHECK_THAT(totals.useful_stepping_chip_time, WithinAbs(7e9 * 4, 0));
}

// Two slices of learner 0 on 2 chips each, of 3 s and 6 s without noise.
RunShape unequal_slices() {
  RunShape shape = two_learners();
  shape.slices[0].step_time = 3_s;
  shape.slices[1].step_time = 6_s;
  shape.slices[0].milliwatts = 1000;
  shape.slices[1].milliwatts = 2000;
  return shape;
}

// Steps of 10 s: the slow slice computes for 8 s, the other for 3/6 of that and waits for 4 s; 2 s of
// communication for both. The second step ends at 20 s; slice 0 alone then computes all of its step.
TEST_CASE("activity ledger: who has computed waits for the slowest", "[unit][readers]") {
  const RunShape shape = unequal_slices();
  ActivityGrid grid;
  ActivityLedger ledger(shape, &grid);
  play({{0_s, ActivityChanged{0, Activity::kStepping}},
        {0_s, ActivityChanged{1, Activity::kFinished}},
        {20_s, steps(0, 1, 2, 0_s, 10_s)},
        {20_s, SliceChanged{1, SliceState::kFailed}},
        {30_s, steps(0, 3, 1, 20_s, 10_s)}},
       ledger);
  const ActivityTotals totals = ledger.snapshot(30_s);
  CHECK_THAT(seconds_in(totals, Bucket::kCompute), exactly(2 * (2 * 8 + 2 * 4) + 2 * 8));
  CHECK_THAT(seconds_in(totals, Bucket::kWaitingForSlowest), exactly(2 * 2 * 4));
  CHECK_THAT(seconds_in(totals, Bucket::kExposedCommunication), exactly(2 * 4 * 2 + 2 * 2));
  // Two chips at 1 W waited for 8 s.
  CHECK(totals.full_work_pj[Bucket::kWaitingForSlowest] == chip_time(2 * 1000, 8_s));
  // Half of the chips waited for 4 of 10 s, twice: 16 s useful; then 10 s, on half of the slices.
  CHECK(totals.useful_chip_time == chip_time(4, 26_s));
  CHECK_THAT(totals.useful_stepping_chip_time, WithinAbs(4.0 * 21e9, 0));
  const BucketTimes fifth_second = ledger.grid_at(30_s).grid().bins()[4];
  CHECK(fifth_second[Bucket::kWaitingForSlowest] == chip_time(2, 1_s));
  CHECK(fifth_second[Bucket::kCompute] == chip_time(2, 1_s));
}

// The draws of a step turn it round: the island of slice 0 takes the whole 8 s, that of slice 1 six.
TEST_CASE("activity ledger: where steps vary each island computes what was told", "[unit][readers]") {
  RunShape shape = unequal_slices();
  shape.steps_vary = true;
  shape.slices[1].island = 1;
  ActivityLedger ledger(shape);
  play({{0_s, ActivityChanged{0, Activity::kStepping}},
        {10_s, MemberComputed{8_s, 0, 0}},
        {10_s, MemberComputed{6_s, 1, 0}},
        {10_s, steps(0, 1, 1, 0_s, 10_s)}},
       ledger);
  const ActivityTotals totals = ledger.snapshot(10_s);
  CHECK_THAT(seconds_in(totals, Bucket::kCompute), exactly(2 * 8 + 2 * 6));
  CHECK_THAT(seconds_in(totals, Bucket::kWaitingForSlowest), exactly(2 * 2));
}

TEST_CASE("activity ledger: a rollback undoes waiting, too", "[unit][readers]") {
  RunShape shape = unequal_slices();
  shape.may_roll_back = true;
  ActivityLedger ledger(shape);
  play({{0_s, ActivityChanged{0, Activity::kStepping}},
        {30_s, steps(0, 1, 3, 0_s, 10_s)},
        {30_s, ActivityChanged{0, Activity::kRestarting}},
        {30_s, RolledBack{1, 0, 2}}},
       ledger);
  const ActivityTotals totals = ledger.snapshot(30_s);
  CHECK_THAT(seconds_in(totals, Bucket::kRolledBack), exactly(2 * 4 * 10));
  CHECK_THAT(seconds_in(totals, Bucket::kWaitingForSlowest), exactly(2 * 4));
  CHECK(totals.rolled_back_stalled_pj ==
        chip_time(2 * 1000, 2 * 6_s) + chip_time(2 * 2000, 2 * 2_s));
  CHECK(totals.useful_chip_time == chip_time(4, 8_s));
}

TEST_CASE("activity ledger: a snapshot in mid-run closes and changes nothing", "[unit][readers]") {
  const RunShape shape = two_learners();
  ActivityLedger asked(shape), left_alone(shape);
  for (const Fact& fact : lost_and_found()) {
    asked.on(fact);
    left_alone.on(fact);
    CHECK(asked.snapshot(fact.at).buckets.sum() == chip_time(10, fact.at));
  }
  CHECK(asked.snapshot(50_s).buckets.time == left_alone.snapshot(50_s).buckets.time);
}

TEST_CASE("activity ledger: where a stretch is cut does not show", "[unit][readers][property]") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    CAPTURE(seed);
    for (const auto& [shape, facts] : {std::pair{two_learners(), lost_and_found()},
                                       std::pair{unequal_slices(), lost_and_found()},
                                       std::pair{data_parallel(), rolled_back_run()}}) {
      ActivityGrid whole_grid, cut_grid;
      ActivityLedger whole(shape, &whole_grid), cut(shape, &cut_grid);
      play(facts, whole);
      play(cut_at_random(facts, seed), cut);
      const Nanoseconds end = facts.back().at;
      REQUIRE(whole.snapshot(end).buckets.time == cut.snapshot(end).buckets.time);
      REQUIRE(whole.snapshot(end).useful_chip_time == cut.snapshot(end).useful_chip_time);
      const ActivityGrid a = whole.grid_at(end), b = cut.grid_at(end);
      REQUIRE(a.grid().bins().size() == b.grid().bins().size());
      for (std::size_t i = 0; i < a.grid().bins().size(); ++i) {
        REQUIRE(a.grid().bins()[i].time == b.grid().bins()[i].time);
      }
    }
  }
}

TEST_CASE("activity grid: its bins sum to the ledger's totals", "[unit][readers]") {
  for (const auto& [shape, facts] : {std::pair{two_learners(), lost_and_found()},
                                     std::pair{data_parallel(), rolled_back_run()}}) {
    ActivityGrid grid;
    ActivityLedger ledger(shape, &grid);
    play(facts, ledger);
    const Nanoseconds end = facts.back().at;
    BucketTimes sum;
    const ActivityGrid whole = ledger.grid_at(end);
    for (const BucketTimes& bin : whole.grid().bins()) {
      CHECK(bin.sum() == chip_time(shape.chips, base::kSecond));  // each bin is one full second
      sum += bin;
    }
    CHECK(sum.time == ledger.snapshot(end).buckets.time);
  }
}

TEST_CASE("activity ledger: a tape that breaks the contract is our bug", "[unit][readers]") {
  const RunShape shape = two_learners();
  ActivityLedger ledger(shape);
  CHECK_THROWS_WITH(ledger.on({10_s, steps(0, 1, 1, 0_s, 10_s)}),
                    "learner 0 told steps at 10000000000 ns while it was not stepping");
  ledger.on({10_s, ActivityChanged{0, Activity::kStepping}});
  ledger.on({20_s, steps(0, 1, 1, 10_s, 10_s)});
  CHECK_THROWS_WITH(ledger.on({30_s, steps(0, 2, 1, 19_s, 10_s)}),
                    "learner 0 told steps from 19000000000 ns, but its time up to 20000000000 ns is "
                    "already accounted for");
  CHECK_THROWS_AS(ledger.on({25_s, steps(0, 2, 1, 20_s, 10_s)}), std::logic_error);  // ends later
  RunShape wrong = two_learners();
  wrong.chips = 11;
  CHECK_THROWS_WITH(ActivityLedger(wrong), "the slices have 10 chips, the fleet 11");
}

}  // namespace
}  // namespace sim::readers

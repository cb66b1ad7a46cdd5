// tests/readers/properties_test.cpp: planted bugs of a world are caught, a good tape is not accused.
//
// Goal:   each property in the header's list has a tape that breaks it and nothing else.
// Method: a good tape, and the same with one fact added, removed or changed.
// Teeth:  seen failing with the test for a version merged twice removed, and with the number of the
//         last step not compared; the sync ledger with a barrier's due counted twice, and with a merge
//         in time that a learner stood still for.
#include "sim/readers/properties.h"

#include <catch2/catch.hpp>

#include "sim/readers/fault_log.h"
#include "sim/readers/step_times.h"
#include "sim/readers/sync_ledger.h"
#include "tests/readers/hand_written_run.h"

namespace sim::readers {
namespace {

using namespace hand;
using Texts = std::vector<std::string>;

const std::vector<Contributor> kBoth = {{1, 0, 1}, {1, 1, 1}};
const std::vector<Contributor> kSecond = {{1, 1, 1}};

Texts violations(const RunShape& shape, const std::vector<Fact>& facts, std::uint32_t quorum = 1) {
  Properties properties(shape, quorum);
  play(facts, properties);
  return properties.violations();
}

std::vector<Fact> synced_run() {
  return {{10_s, steps(0, 1, 1, 0_s, 10_s)},      {10_s, steps(1, 1, 1, 0_s, 10_s)},
          {10_s, taken(1, 0, 0)},                 {10_s, taken(1, 1, 0)},
          {12_s, merged(1, 0, 1, kBoth)},         {12_s, adopted(1, 1, 0, 0, 0)},
          {12_s, adopted(1, 1, 1, 0, 0)}};
}

TEST_CASE("properties: good tapes are not accused", "[unit][readers]") {
  CHECK(violations(two_learners(), synced_run()).empty());
  CHECK(violations(two_learners(), lost_and_found()).empty());
  CHECK(violations(data_parallel(), rolled_back_run(), 0).empty());
}

TEST_CASE("properties: a version that is merged twice is caught", "[unit][readers]") {
  std::vector<Fact> facts = synced_run();
  facts.emplace_back(13_s, taken(2, 1, 0));
  facts.emplace_back(14_s, merged(2, 0, 1, kSecond));
  CHECK(violations(two_learners(), facts) ==
        Texts{"fact 9 at 14.000000000 s: version 1 of fragment 0 is merged twice"});
}

TEST_CASE("properties: steps done again without a rollback are caught", "[unit][readers]") {
  std::vector<Fact> facts = rolled_back_run();
  std::erase_if(facts, [](const Fact& fact) { return fact.kind == Kind::kRolledBack; });
  CHECK(violations(data_parallel(), facts, 0) ==
        Texts{"fact 9 at 12.000000000 s: learner 0 steps in life 2, its life is 1",
              "fact 9 at 12.000000000 s: learner 0 does step 5 again without a rollback; it had "
              "reached 7"});
}

TEST_CASE("properties: a contribution of a dead life is caught", "[unit][readers]") {
  std::vector<Fact> facts = synced_run();
  facts.resize(4);
  facts.emplace_back(11_s, StateSent{1, 0, 1});
  facts.emplace_back(11_s, StateCopied{1, 1, 0, 1, 2});
  facts.emplace_back(12_s, merged(1, 0, 1, kBoth));
  CHECK(violations(two_learners(), facts) ==
        Texts{"fact 7 at 12.000000000 s: sync 1 merges life 1 of learner 1, taken in life 1; its "
              "life is 2"});
}

TEST_CASE("properties: a merge below the quorum is caught", "[unit][readers]") {
  CHECK(violations(two_learners(), synced_run(), 3) ==
        Texts{"fact 5 at 12.000000000 s: fragment 0 is merged from 2 learners, the quorum is 3"});
}

TEST_CASE("properties: adoption of what was never merged is caught", "[unit][readers]") {
  CHECK(violations(two_learners(), {{1_s, adopted(1, 1, 0, 0)}}) ==
        Texts{"fact 1 at 1.000000000 s: learner 0 adopts version 1 of fragment 0, which is not "
              "merged"});
}

TEST_CASE("properties: a forgotten take and a merge without one are caught", "[unit][readers]") {
  std::vector<Fact> facts = synced_run();
  facts[4] = {12_s, merged(1, 0, 1, kSecond)};  // learner 0's take is neither merged nor lost
  CHECK(violations(two_learners(), facts) ==
        Texts{"fact 5 at 12.000000000 s: sync 1 is merged without learner 0, whose take was not "
              "lost"});
  CHECK(violations(two_learners(), {{1_s, merged(4, 1, 1, kSecond)}}) ==
        Texts{"fact 1 at 1.000000000 s: sync 4 merges fragment 1 of learner 1, of which nothing was "
              "taken"});
}

TEST_CASE("properties: overlapping steps and time that goes back are caught", "[unit][readers]") {
  CHECK(violations(two_learners(), {{10_s, steps(0, 1, 1, 0_s, 10_s)},
                                    {19_s, steps(0, 2, 1, 9_s, 10_s)}}) ==
        Texts{"fact 2 at 19.000000000 s: steps of learner 0 overlap: one begins at 9.000000000 s, one "
              "ended at 10.000000000 s"});
  CHECK(violations(two_learners(), {{2_s, FaultStarted{}}, {1_s, FaultEnded{0}}}) ==
        Texts{"fact 2 at 1.000000000 s: time goes back from 2.000000000 s"});
}

TEST_CASE("properties: what ends without a beginning is caught", "[unit][readers]") {
  CHECK(violations(two_learners(), {{1_s, FaultEnded{3}},
                                    {1_s, StateLost{8, 0, 1, LossReason::kDonorDied}},
                                    {1_s, TransferDone{1, 1, 0, 5, 0, 1, TrafficClass::kJoin,
                                                       TransferStatus::kOk}}}) ==
        Texts{"fact 1 at 1.000000000 s: fault 3 ends, but it is not open",
              "fact 2 at 1.000000000 s: state 8 ends, but it is not open",
              "fact 3 at 1.000000000 s: transfer 5 ends, but it is not open"});
}

TEST_CASE("properties: a restored global model opens a new epoch", "[unit][readers]") {
  std::vector<Fact> facts = synced_run();
  facts.emplace_back(13_s, GlobalRestored{0, 1});
  facts.emplace_back(14_s, taken(2, 1, 0));
  facts.emplace_back(15_s, merged(2, 0, 1, kSecond, 1));  // version 1 again, of epoch 1
  CHECK(violations(two_learners(), facts).empty());
}

TEST_CASE("properties: the first hundred violations are kept, all are counted", "[unit][readers]") {
  const RunShape shape = two_learners();
  Properties properties(shape, 1);
  for (std::uint32_t i = 0; i < 150; ++i) properties.on({1_s, FaultEnded{i}});
  CHECK(properties.violations().size() == 100);
  CHECK(properties.violation_count() == 150);
}

TEST_CASE("sync ledger: merges, skips, losses and late adoptions are counted", "[unit][readers]") {
  SyncLedger ledger(2, 2);
  FragmentMerged late = merged(2, 1, 1, kSecond);
  late.overrun = 5;
  play(synced_run(), ledger);
  play({{20_s, late},
        {20_s, adopted(2, 1, 1, 1, 2)},  // in time
        {21_s, adopted(2, 1, 0, 1, 3)},  // a step late
        {22_s, FragmentSkipped{4, 0, LossReason::kNoQuorum}},
        {23_s, FragmentLost{3, 0, 0, LossReason::kLearnerDied}}},
       ledger);
  const SyncTotals& totals = ledger.totals();
  CHECK(totals.merged == 2);
  CHECK(totals.contributions == 3);
  CHECK(totals.participation(2) == 0.75);
  CHECK(totals.late_adoptions == 1);
  CHECK(totals.grace_overruns == 1);
  CHECK(totals.skipped_count() == 1);
  CHECK(totals.lost_count() == 1);
  CHECK(totals.learner_steps == 2);
  CHECK(loss_reason_name(LossReason::kReceiverDied) == "receiver_died");
}

TEST_CASE("sync ledger: what was due, in time and alone", "[unit][readers]") {
  SyncLedger ledger(2, 2);
  const std::vector<Contributor> both = {{1, 0, 1}, {1, 1, 1}}, alone = {{1, 1, 1}};
  FragmentMerged overrun = merged(3, 0, 3, both);
  overrun.overrun = 1;
  // Due 1 and 2: merged in time, the second alone.
  play({{1_s, taken(1, 0, 0)}, {1_s, taken(1, 1, 0)}, {2_s, merged(1, 0, 1, both)},
        {3_s, taken(2, 0, 1)}, {3_s, taken(2, 1, 1)},
        {3_s, FragmentLost{2, 0, 1, LossReason::kUnreachable}}, {4_s, merged(2, 1, 1, alone)},
        // Due 3: later than tau steps. Due 4: a learner stood still for it.
        {5_s, taken(3, 0, 0)}, {5_s, taken(3, 1, 0)}, {6_s, overrun},
        {7_s, taken(4, 0, 1)}, {7_s, taken(4, 1, 1)},
        {7_s, ActivityChanged{0, Activity::kWaitingForMerge}}, {8_s, merged(4, 1, 4, both)},
        {8_s, ActivityChanged{0, Activity::kStepping}},
        // Due 5: all its takes are lost, and the barrier says that it is skipped. Due 6: not even taken.
        {9_s, taken(5, 0, 0)}, {9_s, FragmentLost{5, 0, 0, LossReason::kLearnerDied}},
        {9_s, FragmentSkipped{0, 0, LossReason::kNoQuorum}},
        {10_s, FragmentSkipped{8, 1, LossReason::kInFlightLimit}},
        // A straggler finds that the others have merged without it.
        {11_s, FragmentSkipped{7, 1, LossReason::kUnreachable}},
        // Due 7: under way at the end.
        {12_s, taken(6, 0, 0)}},
       ledger);
  const SyncTotals& totals = ledger.totals();
  CHECK(totals.due == 7);
  CHECK(totals.merged == 4);
  CHECK(totals.in_time == 2);
  CHECK(totals.late() == 2);
  CHECK(totals.lone == 1);
  // One learner is never alone.
  SyncLedger of_one(2, 1);
  play({{1_s, taken(1, 0, 0)}, {2_s, merged(1, 0, 1, alone)}}, of_one);
  CHECK(of_one.totals().lone == 0);
}

TEST_CASE("step times: the median weighs stretches by their steps", "[unit][readers]") {
  StepTimes times;
  CHECK(times.median() == 0);
  play({{0_s, steps(0, 1, 3, 0_s, 7_s)}, {0_s, steps(0, 4, 4, 0_s, 9_s)}, {0_s, steps(1, 1, 2, 0_s, 1_s)}},
       times);
  CHECK(times.median() == 7_s);  // 1 1 7 7 7 | 9 9 9 9: the fifth of nine
}

TEST_CASE("fault log: faults keep their dates and names", "[unit][readers]") {
  const RunShape shape = two_learners();
  FaultLog log;
  play({{1_s, FaultStarted{5_s, 1.0, 0, 1, FaultKind::kKill, TargetKind::kRegion, 1, 0}},
        {2_s, FaultStarted{base::kNever, 0.5, 1, 0, FaultKind::kRateCut, TargetKind::kLink, 0, 0}},
        {6_s, FaultEnded{0}}},
       log);
  CHECK(log.met_count() == 2);
  CHECK(log.scripted_count() == 1);
  CHECK(log.faults()[0].ended_at == 6_s);
  CHECK(log.faults()[1].ended_at == base::kNever);
  CHECK(fault_target_name(shape, TargetKind::kRegion, 1) == "east");
  CHECK(fault_target_name(shape, TargetKind::kLink, 0) == "west--east");
  CHECK(fault_target_name(shape, TargetKind::kChip, 2) == "b/slice-0");
  CHECK_THROWS_WITH(log.on({7_s, FaultEnded{0}}), "fault 0 ends, but it does not last");
}

}  // namespace
}  // namespace sim::readers

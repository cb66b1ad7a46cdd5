// tests/readers/run_account_test.cpp: the accounts at the marks are those of their dates.
//
// Teeth:  seen failing with the account taken at the end for every mark, and without the check of the range.
#include "sim/readers/run_account.h"

#include <catch2/catch.hpp>

#include "tests/readers/hand_written_run.h"

namespace sim::readers {
namespace {

using namespace hand;

TEST_CASE("run account: the time mark is accounted at its date, the rest at the end", "[unit][readers]") {
  const RunShape shape = data_parallel();
  RunAccount account(shape, {.quorum = 0, .overlap_steps = 0, .counting = TokenCounting::kAtOnce});
  std::vector<Fact> facts = rolled_back_run();
  facts.insert(facts.begin() + 6, Fact(8_s, MarkReached{700, MarkKind::kTime}));
  play(facts, account);
  REQUIRE(account.at_time_mark());
  REQUIRE(account.at_end());
  CHECK_FALSE(account.at_token_mark());
  CHECK(account.at_time_mark()->at == 8_s);
  CHECK(account.at_time_mark()->merged_tokens == 700);
  CHECK(account.at_time_mark()->goodput.time == 7.0 / 8.0);  // seven steps, one second of saving
  CHECK(account.at_end()->merged_tokens == 600);
  CHECK(account.at_end()->goodput.time == 6.0 / 12.0);
  CHECK(account.properties().violation_count() == 0);
}

TEST_CASE("run account: a goodput above 1 is our bug", "[unit][readers]") {
  // Learner 0 has the fleet's 100 tokens a second; it tells 150 in each of ten steps of a second.
  const RunShape shape = data_parallel();
  RunAccount account(shape, {.quorum = 0, .overlap_steps = 0, .counting = TokenCounting::kAtOnce});
  account.on({0_s, ActivityChanged{0, Activity::kStepping}});
  account.on({10_s, steps(0, 1, 10, 0_s, 1_s, 150)});
  CHECK_THROWS_WITH(account.on({10_s, RunEnded{1500}}), "goodput.token is 1.5, outside [0, 1]");
}

TEST_CASE("run account: a step cut to whole nanoseconds is no goodput above 1", "[unit][readers]") {
  // 100 tokens in 2.5 ns, told as 2 ns: 1.25 by rounding alone, in a fleet whose step is 2.5 ns or less.
  RunShape shape = data_parallel();
  shape.nominal_step = 2;
  shape.native_tokens_per_s = 100 / 2.5e-9;
  RunAccount account(shape, {.quorum = 0, .overlap_steps = 0, .counting = TokenCounting::kAtOnce});
  account.on({0, ActivityChanged{0, Activity::kStepping}});
  account.on({200, StepsDone{0, 2, 2, 1, 100, 100, 1, 0, 1}});
  account.on({200, RunEnded{10'000}});
  CHECK(account.at_end()->goodput.token == 1);
}

}  // namespace
}  // namespace sim::readers

// tests/readers/run_account_test.cpp: the accounts at the marks are those of their dates.
//
// Teeth:  seen failing with the account taken at the end for every mark.
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

}  // namespace
}  // namespace sim::readers

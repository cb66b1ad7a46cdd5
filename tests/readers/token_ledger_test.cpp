// tests/readers/token_ledger_test.cpp: what became of every token, by hand.
//
// Goal:   tokens end where the header says, per fragment, and close (law 5).
// Method: tapes of about ten facts with the arithmetic beside; random tapes for closing.
// Teeth:  seen failing with a lost take not given back, with adoption always counted as overwritten,
//         and with a rollback that leaves tokens merged.
#include "sim/readers/token_ledger.h"

#include <catch2/catch.hpp>

#include "tests/readers/hand_written_run.h"

namespace sim::readers {
namespace {

using namespace hand;

constexpr auto kDied = static_cast<std::size_t>(DiscardReason::kLearnerDied);
constexpr auto kNotInQuorum = static_cast<std::size_t>(DiscardReason::kNotInQuorum);

TEST_CASE("token ledger: merged and overwritten are added up by hand", "[unit][readers]") {
  const RunShape shape = two_learners();
  TokenLedger ledger(shape);
  const std::vector<Contributor> both = {{1, 0, 1}, {1, 1, 1}};
  play({{20_s, steps(0, 1, 2, 0_s, 10_s)},  // 200 tokens
        {20_s, steps(1, 1, 3, 0_s, 5_s)},   // 300 tokens
        {20_s, taken(7, 0, 1)},
        {20_s, taken(7, 1, 1)},
        {30_s, steps(0, 3, 1, 20_s, 10_s)},  // 100 tokens while the sync is under way
        {31_s, merged(7, 1, 1, both)},
        {31_s, adopted(7, 1, 0, 1, 1)},
        {31_s, adopted(7, 1, 1, 1)}},
       ledger);
  ledger.check_closed();
  const TokenTotals synced = ledger.fragment(1);
  CHECK(synced.processed == 600);
  CHECK(synced.merged == 500);
  CHECK(synced.overwritten == 100);
  CHECK(synced.in_flight == 0);
  CHECK(ledger.fragment(0).in_flight == 600);  // never synced
  // Fragment 1 has 300 of 400 parameters: (500 + 100) * 3/4 = 450.
  CHECK(ledger.unique_tokens() == 450);
  const TokenTotals model = ledger.model();
  CHECK(model.merged == 375);
  CHECK(model.overwritten == 75);
  CHECK(model.in_flight == 150);
}

TEST_CASE("token ledger: a lost take goes back to its learner and merges later", "[unit][readers]") {
  const RunShape shape = two_learners();
  TokenLedger ledger(shape);
  const std::vector<Contributor> alone = {{1, 0, 1}};
  play({{10_s, steps(0, 1, 1, 0_s, 10_s)},
        {10_s, taken(1, 0, 0)},
        {11_s, FragmentLost{1, 0, 0, LossReason::kUnreachable}}},
       ledger);
  CHECK(ledger.fragment(0).in_flight == 100);
  play({{20_s, steps(0, 2, 1, 10_s, 10_s)}, {20_s, taken(2, 0, 0)}, {21_s, merged(2, 0, 1, alone)}},
       ledger);
  CHECK(ledger.fragment(0).merged == 200);
  ledger.check_closed();
}

TEST_CASE("token ledger: who was not in the merge loses its work at adoption", "[unit][readers]") {
  const RunShape shape = two_learners();
  TokenLedger ledger(shape);
  const std::vector<Contributor> alone = {{1, 1, 1}};
  play({{10_s, steps(0, 1, 1, 0_s, 10_s)},
        {10_s, steps(1, 1, 1, 0_s, 10_s)},
        {10_s, taken(1, 1, 0)},
        {12_s, merged(1, 0, 1, alone)},
        {12_s, adopted(1, 1, 0, 0)}},
       ledger);
  const TokenTotals totals = ledger.fragment(0);
  CHECK(totals.merged == 100);
  CHECK(totals.discarded[kNotInQuorum] == 100);
  CHECK(totals.overwritten == 0);
  ledger.check_closed();
}

TEST_CASE("token ledger: an adoption spares what a later sync has already taken", "[unit][readers]") {
  const RunShape shape = two_learners();
  TokenLedger ledger(shape);
  const std::vector<Contributor> alone = {{1, 0, 1}};
  play({{10_s, steps(0, 1, 1, 0_s, 10_s)},
        {10_s, taken(1, 0, 0)},
        {20_s, steps(0, 2, 2, 10_s, 5_s)},  // 200 tokens, read by sync 2
        {20_s, taken(2, 0, 0)},
        {21_s, merged(1, 0, 1, alone)},
        {30_s, steps(0, 4, 1, 20_s, 10_s)},  // 100 tokens that the adoption covers
        {30_s, adopted(1, 1, 0, 0)},
        {31_s, merged(2, 0, 2, alone)},
        {31_s, adopted(2, 2, 0, 0)}},
       ledger);
  const TokenTotals totals = ledger.fragment(0);
  CHECK(totals.merged == 100 + 200);
  CHECK(totals.overwritten == 100);
  CHECK(totals.discarded[kNotInQuorum] == 0);
  ledger.check_closed();
}

TEST_CASE("token ledger: a new life discards what the old one held", "[unit][readers]") {
  const RunShape shape = two_learners();
  TokenLedger ledger(shape);
  play({{10_s, steps(0, 1, 1, 0_s, 10_s)},
        {10_s, taken(1, 0, 0)},
        {20_s, steps(0, 2, 1, 10_s, 10_s)},
        {30_s, StateCopied{1, 2, 1, 0, 2}},
        {31_s, FragmentLost{1, 0, 0, LossReason::kLearnerDied}}},  // told after the new life began
       ledger);
  CHECK(ledger.fragment(0).discarded[kDied] == 200);
  CHECK(ledger.fragment(1).discarded[kDied] == 200);
  CHECK(ledger.fragment(0).in_flight == 0);
  ledger.check_closed();
}

TEST_CASE("token ledger: data parallel counts at once and takes back a rollback", "[unit][readers]") {
  const RunShape shape = data_parallel();
  TokenLedger ledger(shape);
  std::vector<std::uint64_t> unique;
  for (const Fact& fact : rolled_back_run()) {
    ledger.on(fact);
    if (fact.kind == Kind::kStepsDone || fact.kind == Kind::kRolledBack) {
      unique.push_back(ledger.unique_tokens());
    }
  }
  // Steps 1-4, then 5-7, back to 4, then 5-6; 100 tokens each.
  CHECK(unique == std::vector<std::uint64_t>{400, 700, 400, 600});
  CHECK(ledger.model().rolled_back == 300);
  CHECK(ledger.model().processed == 900);
  ledger.check_closed();
}

TEST_CASE("token ledger: a restored global model takes over its learner's work", "[unit][readers]") {
  const RunShape shape = two_learners();
  TokenLedger ledger(shape);
  play({{10_s, steps(0, 1, 1, 0_s, 10_s)}, {11_s, GlobalRestored{0, 1}}}, ledger);
  CHECK(ledger.unique_tokens() == 100);
  ledger.check_closed();
}

TEST_CASE("token ledger: tokens close on any tape and with any cut", "[unit][readers][property]") {
  const RunShape shape = two_learners();
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 rng(seed);
    std::vector<Fact> facts;
    std::vector<std::vector<Contributor>> contributors;
    contributors.reserve(200);  // facts point into it
    std::uint32_t step[2] = {1, 1}, life[2] = {1, 1};
    for (std::uint32_t round = 1; round <= 40; ++round) {
      const Nanoseconds now = round * 100_s;
      const auto fragment = static_cast<std::uint16_t>(rng() % 2);
      std::vector<Contributor> from;
      for (std::uint16_t m = 0; m < 2; ++m) {
        const auto count = static_cast<std::uint32_t>(1 + rng() % 9);
        const auto tokens = static_cast<std::uint32_t>(rng() % 1000);
        facts.emplace_back(now, steps(m, step[m], count, now - 100_s, 1_s, tokens));
        step[m] += count;
        if (rng() % 8 == 0) {
          ++life[m];
          facts.emplace_back(now, StateCopied{round, step[m] - 1, static_cast<std::uint16_t>(1 - m),
                                              m, static_cast<std::uint16_t>(life[m])});
        }
        if (rng() % 4 == 0) continue;
        facts.emplace_back(now, taken(round, m, fragment));
        if (rng() % 4 == 0) {
          facts.emplace_back(now, FragmentLost{round, m, fragment, LossReason::kUnreachable});
        } else {
          from.push_back({1.0, m, static_cast<std::uint16_t>(life[m])});
        }
      }
      contributors.push_back(from);
      facts.emplace_back(now, merged(round, fragment, round, contributors.back()));
      for (std::uint16_t m = 0; m < 2; ++m) {
        if (rng() % 3 != 0) facts.emplace_back(now, adopted(round, round, m, fragment));
      }
    }
    TokenLedger whole(shape), cut(shape);
    for (const Fact& fact : facts) {
      whole.on(fact);
      whole.check_closed();
    }
    play(cut_at_random(facts, seed), cut);
    REQUIRE(whole.unique_tokens() == cut.unique_tokens());
    // The running total against the sum over fragments: (100 a + 300 b) / 400, to the nearest.
    const TokenTotals a = whole.fragment(0), b = whole.fragment(1);
    const std::uint64_t weighted =
        100 * (a.merged + a.overwritten) + 300 * (b.merged + b.overwritten);
    REQUIRE(whole.unique_tokens() == (weighted + 200) / 400);
    const TokenTotals model = whole.model();
    REQUIRE(model.processed == model.merged + model.overwritten + model.discarded[0] +
                                   model.discarded[1] + model.rolled_back + model.in_flight);
  }
}

TEST_CASE("token ledger: a merge of nothing taken is our bug", "[unit][readers]") {
  const RunShape shape = two_learners();
  TokenLedger ledger(shape);
  const std::vector<Contributor> alone = {{1, 0, 1}};
  CHECK_THROWS_WITH(ledger.on({1_s, merged(5, 1, 1, alone)}),
                    "sync 5 of fragment 1 ends for learner 0, but nothing of it was taken");
}

}  // namespace
}  // namespace sim::readers

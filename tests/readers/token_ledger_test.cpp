// tests/readers/token_ledger_test.cpp: what became of every token, by hand.
//
// Goal:   tokens end where the header says, per fragment, and close (law 5).
// Method: tapes of about ten facts with the arithmetic beside; random tapes for closing.
// Teeth:  seen failing with a lost take not given back, with adoption always counted as overwritten,
//         with a rollback that leaves tokens merged, with overwritten tokens counted as merged, and with
//         mixing that keeps nothing.
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
  // Fragment 1 has 300 of 400 parameters: 500 * 3/4 = 375 merged. Nothing is discarded or undone.
  CHECK(ledger.merged_tokens() == 375);
  CHECK(ledger.consumed_tokens() == 600);
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
  std::vector<std::uint64_t> merged_so_far;
  for (const Fact& fact : rolled_back_run()) {
    ledger.on(fact);
    if (fact.kind == Kind::kStepsDone || fact.kind == Kind::kRolledBack) {
      merged_so_far.push_back(ledger.merged_tokens());
      CHECK(ledger.consumed_tokens() == ledger.merged_tokens());
    }
  }
  // Steps 1-4, then 5-7, back to 4, then 5-6; 100 tokens each.
  CHECK(merged_so_far == std::vector<std::uint64_t>{400, 700, 400, 600});
  CHECK(ledger.model().rolled_back == 300);
  CHECK(ledger.model().processed == 900);
  ledger.check_closed();
}

TEST_CASE("token ledger: a restored global model takes over its learner's work", "[unit][readers]") {
  const RunShape shape = two_learners();
  TokenLedger ledger(shape);
  play({{10_s, steps(0, 1, 1, 0_s, 10_s)}, {11_s, GlobalRestored{0, 1}}}, ledger);
  CHECK(ledger.merged_tokens() == 100);
  CHECK(ledger.consumed_tokens() == 100);
  ledger.check_closed();
}

// One learner steps 100 tokens a step; its fragment is taken every four steps and adopted two steps later.
TEST_CASE("token ledger: without faults a period loses the steps between take and adoption",
          "[unit][readers]") {
  const RunShape shape = two_learners();
  const std::vector<Contributor> alone = {{1, 0, 1}};
  for (const double mixing : {0.0, 0.5}) {
    CAPTURE(mixing);
    TokenLedger ledger(shape, TokenCounting::kAtMerge, mixing);
    for (std::uint32_t round = 1; round <= 10; ++round) {
      const std::uint32_t first = round == 1 ? 1 : 4 * round - 1;
      const std::uint32_t count = 4 * round - first + 1;
      const Nanoseconds now = round * 40_s;
      play({{now, steps(0, first, count, now - count * 10_s, 10_s)},
            {now, taken(round, 0, 0)},
            {now + 20_s, steps(0, 4 * round + 1, 2, now, 10_s)},
            {now + 20_s, merged(round, 0, round, alone)},
            {now + 20_s, adopted(round, round, 0, 0, 2)}},
           ledger);
    }
    ledger.check_closed();
    const TokenTotals totals = ledger.fragment(0);
    CHECK(totals.processed == 4200);
    // The first take has four steps, each of the nine others the two that no adoption overwrote: with
    // H = 4 and a lag of 2, (H - 2) / H of the work, and half of the rest where mixing keeps half.
    const std::uint64_t kept = mixing == 0.5 ? 100 : 0;
    CHECK(totals.merged == 400 + 9 * (200 + kept));
    CHECK(totals.overwritten == 10 * (200 - kept));
    CHECK(totals.in_flight == kept);
    CHECK(ledger.consumed_tokens() == 4200);
  }
}

TEST_CASE("token ledger: work on the way is consumed until it is lost", "[unit][readers]") {
  const RunShape shape = two_learners();
  TokenLedger ledger(shape);
  ledger.on({10_s, steps(0, 1, 3, 0_s, 1_s)});
  CHECK(ledger.consumed_tokens() == 300);
  CHECK(ledger.merged_tokens() == 0);
  ledger.on({30_s, StateCopied{1, 3, 1, 0, 2}});
  CHECK(ledger.consumed_tokens() == 0);
}

// A merging run of two learners and two fragments, legal whatever is drawn: several syncs open at once,
// lives that end with takes on the way, adoptions that are missed or come late, checkpoints of the global
// model and ways back to it, shards that keep an older version, a learner whose parameters become the global ones.
class RandomTape {
 public:
  explicit RandomTape(std::uint64_t seed) : rng_(seed) {
    contributors_.reserve(kRounds);  // facts point into it
    for (std::uint32_t round = 1; round <= kRounds; ++round) play_round(round);
  }
  const std::vector<Fact>& facts() const { return facts_; }

 private:
  static constexpr std::uint32_t kRounds = 60;
  struct Open {
    std::uint32_t sync;
    std::uint16_t fragment;
    std::vector<Contributor> takes;
  };

  bool one_in(std::uint64_t n) { return rng_() % n == 0; }
  void say(const auto& fact) { facts_.emplace_back(now_, fact); }
  std::uint16_t life(std::uint16_t m) const { return static_cast<std::uint16_t>(lives_[m]); }

  void play_round(std::uint32_t round) {
    now_ = round * 100_s;
    for (std::uint16_t m = 0; m < 2; ++m) step(m, round);
    take(round, static_cast<std::uint16_t>(rng_() % 2));
    if (one_in(10)) say(CheckpointSaved{steps_[0], kNoLearner});
    if (one_in(12)) go_back();
    if (one_in(9)) shard_keeps(static_cast<std::uint16_t>(rng_() % 2));
    if (one_in(15)) say(GlobalRestored{static_cast<std::uint16_t>(rng_() % 2), ++epoch_});
    while (!open_.empty() && (open_.size() > 3 || one_in(2))) end_sync();
  }

  void step(std::uint16_t m, std::uint32_t round) {
    const auto count = static_cast<std::uint32_t>(1 + rng_() % 9);
    const auto tokens = static_cast<std::uint32_t>(rng_() % 1000);
    say(steps(m, steps_[m] + 1, count, now_ - 100_s, 1_s, tokens));
    steps_[m] += count;
    if (!one_in(8)) return;
    ++lives_[m];
    const auto donor = static_cast<std::uint16_t>(1 - m);
    say(StateCopied{round, steps_[m], donor, m, life(m)});
  }

  void take(std::uint32_t round, std::uint16_t fragment) {
    Open sync{round, fragment, {}};
    for (std::uint16_t m = 0; m < 2; ++m) {
      if (one_in(4)) continue;
      say(taken(round, m, fragment, life(m)));
      sync.takes.push_back({1.0, m, life(m)});
    }
    if (!sync.takes.empty()) open_.push_back(sync);
  }

  // To the last global checkpoint (step 0 if there was none): all learners begin a life there.
  void go_back() {
    say(GlobalRestored{kNoLearner, ++epoch_});
    for (std::uint16_t m = 0; m < 2; ++m) {
      say(RolledBack{0, m, static_cast<std::uint16_t>(++lives_[m])});
    }
  }

  // A shard is left behind with a version, and later that one becomes the global one again, or is dropped.
  void shard_keeps(std::uint16_t fragment) {
    const std::uint16_t shard = 1;
    if (!keeps_[fragment]) {
      say(FragmentKept{1, fragment, epoch_, shard});
      keeps_[fragment] = true;
      return;
    }
    if (one_in(2)) say(FragmentRestored{1, fragment, ++epoch_, shard});
    say(FragmentDropped{fragment, shard});
    keeps_[fragment] = false;
  }

  // Takes of lives that have ended are lost, and some others; the rest merges and is adopted by some.
  void end_sync() {
    const Open sync = open_.front();
    open_.erase(open_.begin());
    std::vector<Contributor> from;
    for (const Contributor& take : sync.takes) {
      if (take.incarnation != life(take.learner) || one_in(4)) {
        say(FragmentLost{sync.sync, take.learner, sync.fragment, LossReason::kUnreachable});
      } else {
        from.push_back(take);
      }
    }
    if (from.empty()) return;
    contributors_.push_back(from);
    say(merged(sync.sync, sync.fragment, sync.sync, contributors_.back(), epoch_));
    for (std::uint16_t m = 0; m < 2; ++m) {
      if (!one_in(3)) say(adopted(sync.sync, sync.sync, m, sync.fragment));
    }
  }

  std::mt19937_64 rng_;
  Nanoseconds now_ = 0;
  std::uint32_t steps_[2] = {0, 0}, lives_[2] = {1, 1};
  std::uint16_t epoch_ = 0;
  bool keeps_[2] = {false, false};
  std::vector<Open> open_;
  std::vector<std::vector<Contributor>> contributors_;
  std::vector<Fact> facts_;
};

// A second way to add up, by hand-made weights: fragments have 100 and 300 of 400 parameters.
std::uint64_t weighted(std::uint64_t a, std::uint64_t b) { return (100 * a + 300 * b + 200) / 400; }

std::uint64_t consumed(const TokenTotals& t) {
  return t.processed - t.discarded[kDied] - t.discarded[kNotInQuorum] - t.rolled_back;
}

TEST_CASE("token ledger: tokens close on any tape and with any cut", "[unit][readers][property]") {
  RunShape shape = two_learners();
  shape.may_roll_back = true;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    const RandomTape tape(seed);
    const double mixing = 0.25 * static_cast<double>(seed % 5);
    TokenLedger whole(shape, TokenCounting::kAtMerge, mixing);
    TokenLedger cut(shape, TokenCounting::kAtMerge, mixing);
    for (const Fact& fact : tape.facts()) {
      whole.on(fact);
      whole.check_closed();
      REQUIRE(whole.merged_tokens() <= whole.consumed_tokens());
    }
    play(cut_at_random(tape.facts(), seed), cut);
    REQUIRE(whole.merged_tokens() == cut.merged_tokens());
    REQUIRE(whole.consumed_tokens() == cut.consumed_tokens());
    const TokenTotals a = whole.fragment(0), b = whole.fragment(1);
    REQUIRE(whole.merged_tokens() == weighted(a.merged, b.merged));
    REQUIRE(whole.consumed_tokens() == weighted(consumed(a), consumed(b)));
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

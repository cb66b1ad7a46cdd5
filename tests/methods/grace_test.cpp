// tests/methods/grace_test.cpp: how long the syncer holds a merge open, and what that is good for.
//
// Goal:   grace never exceeds its formula, in the function and in whole runs; with it learners out of
//         phase are merged together once a step, without it one by one (Table 5 of arXiv:2604.21428).
// Method: random estimates; the facts of a run against the formula from their own estimates; phases
//         set by short failures.
// Teeth:  seen failing with the cap of one step removed, with the quorum time not subtracted, and with
//         grace given only at steps at which a fragment is due (the case of rare fragments).
#include <catch2/catch.hpp>

#include "sim/methods/grace.h"
#include "tests/methods/forked_world.h"

namespace sim::methods {
namespace {

using Catch::Matchers::WithinAbs;
using tape::Kind;

// The formula in doubles; nanoseconds below 2^53 are exact there, the product is off by a unit.
double formula(const TrainingOptions& t, double step, double quorum, double sync) {
  const double slack = std::max(0.0, static_cast<double>(t.overlap_steps) * step - quorum - sync);
  return std::min(step, t.grace_margin * slack);
}

TEST_CASE("grace: never above the smaller of a step and its share of the slack", "[methods]") {
  TrainingOptions t = Setup::default_training();
  t.grace = GraceKind::kAdaptive;
  base::Stream stream(1, "grace");
  for (int i = 0; i < 2000; ++i) {
    t.overlap_steps = 1 + static_cast<std::int64_t>(stream.next_below(4));
    t.grace_margin = stream.next_uniform();
    const auto draw = [&] { return static_cast<Nanoseconds>(stream.next_below(10 * kSecond)); };
    const GraceEstimates e{draw(), draw(), draw()};
    const double most = formula(t, static_cast<double>(e.step), static_cast<double>(e.quorum),
                                static_cast<double>(e.sync));
    CHECK_THAT(static_cast<double>(decide_grace(t, e)), WithinAbs(most, 1.0));
    CHECK(static_cast<double>(decide_grace(t, e)) <= most + 1e-6);
  }
  t.grace = GraceKind::kNone;
  CHECK(decide_grace(t, {kSecond, 0, 0}) == 0);
}

// Eight learners of one-second steps. Learner i loses a slice at 1 + i/10 s for a moment: it shrinks for
// 3 s, grows for 2 s, and steps at i/10 after each full second from 6 s on.
Setup eight_phases() {
  Setup setup;
  for (int i = 0; i < 8; ++i) {
    const std::string name = "w" + std::to_string(i);
    setup.add_island(name, "here");
    setup.kill(tape::TargetKind::kSlice, name + "/slice-1", kSecond + i * 100 * kMillisecond,
               50 * kMillisecond);
  }
  setup.training.fragments = 24;
  setup.training.sync_every = 24;
  setup.training.overlap_steps = 2;
  return setup;
}

struct Merges {
  std::size_t count = 0, contributions = 0;
};

Merges merges_between(const Lived& lived, Nanoseconds from, Nanoseconds to) {
  Merges merges;
  std::size_t index = 0;
  for (const auto& fact : lived.recorder.of(Kind::kFragmentMerged)) {
    const std::size_t contributors = lived.recorder.contributors[index++].size();
    if (fact.at < from || fact.at >= to) continue;
    ++merges.count;
    merges.contributions += contributors;
  }
  return merges;
}

// The first report of a round comes on the second, the last 0.7 s later; a grace of 1 s (the cap: 0.9
// of two steps is more) is cut short once all have reported. 40 s: 40 rounds of eight.
TEST_CASE("grace: learners out of phase are merged together, once a step", "[methods]") {
  Setup setup = eight_phases();
  setup.training.grace = GraceKind::kAdaptive;
  const Lived lived = live(setup);
  const Merges merges = merges_between(lived, 15 * kSecond, 55 * kSecond);
  CHECK(merges.count == 40);
  CHECK(merges.contributions == 40 * 8);
  CHECK(lived.account->properties().violation_count() == 0);
}

// Every report opens a global step of its own: 8 steps a second, one fragment each, one learner each.
TEST_CASE("grace: without it merges hold one learner and come eight times as often", "[methods]") {
  const Lived lived = live(eight_phases());
  const Merges merges = merges_between(lived, 15 * kSecond, 55 * kSecond);
  CHECK(merges.count == 40 * 8);
  CHECK(merges.contributions == 40 * 8);
}

// H = 24 but only two fragments: fragment 0 is due at global steps 24 and 48, fragment 1 at 12 and 36.
// A round takes a second also where nothing is due, so the four merges stand 12 s apart.
TEST_CASE("grace: steps at which nothing is due are as long as the others", "[methods]") {
  Setup setup = eight_phases();
  setup.training.grace = GraceKind::kAdaptive;
  setup.training.fragments = 2;
  const Lived lived = live(setup);
  const auto merges = lived.recorder.of(Kind::kFragmentMerged);
  REQUIRE(merges.size() >= 4);
  for (std::size_t i = 2; i < merges.size(); ++i) {
    CHECK(merges[i].at - merges[i - 1].at == 12 * kSecond);
  }
}

TEST_CASE("grace: in a run every decision follows from its own estimates", "[methods]") {
  Setup setup;
  setup.use_network(3);
  setup.add_island("a", "r0");
  setup.add_island("b", "r1", 0.85);
  setup.add_island("c", "r2", 0.93);
  setup.spread.step_sd = 0.1;
  setup.training.grace = GraceKind::kAdaptive;
  setup.training.overlap_steps = 2;
  setup.cut_rate("r0--r1", 20 * kSecond, 10 * kSecond, 0.05);
  const Lived lived = live_forked(setup);
  const auto decisions = lived.recorder.of(Kind::kGraceDecided);
  REQUIRE(decisions.size() > 50);
  std::size_t with_grace = 0;
  for (const auto& fact : decisions) {
    const auto& g = fact.grace_decided;
    const double most = formula(setup.training, static_cast<double>(g.step_estimate),
                                static_cast<double>(g.quorum_estimate),
                                static_cast<double>(g.sync_estimate));
    CHECK_THAT(static_cast<double>(g.grace), WithinAbs(most, 1.0));
    with_grace += g.grace > 0;
  }
  CHECK(with_grace > 40);
}

// Two regions, both needed. On a link cut to a twentieth (0.5 MB/s): the second report takes 10 ms +
// 100 B / 0.5 MB/s = 10.2 ms, the first 50.1 us; pull of 2 MB as values 2.05 ms; fold of one payload 0.1 ms;
// ring 1 MB / 0.5 MB/s = 2 s and twice 10 ms. Together 10.1499 + 2022.15 ms, of which one step of 1 s is no overrun.
TEST_CASE("grace: a merge that outlasts its window is counted, and by how much", "[methods]") {
  Setup setup;
  setup.use_network(2);
  setup.add_island("a", "r0");
  setup.add_island("b", "r1");
  setup.training.quorum = 2;
  setup.cut_rate("r0--r1", 20'500 * kMillisecond, kNever, 0.05);
  const Lived lived = live_forked(setup);
  std::size_t over = 0;
  for (const auto& fact : lived.recorder.of(Kind::kFragmentMerged)) {
    const double overrun = base::to_seconds(fact.fragment_merged.overrun);
    if (fact.at < 20'500 * kMillisecond) {
      CHECK(overrun == 0);
    } else {
      // The engine keeps flow dates as doubles of seconds: below a microsecond.
      CHECK_THAT(overrun, WithinAbs(1.0322999, 1e-6));
      ++over;
    }
  }
  CHECK(over > 5);
  CHECK(lived.account->at_end()->syncs.grace_overruns == over);
}

}  // namespace
}  // namespace sim::methods

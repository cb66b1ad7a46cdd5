// tests/tape/tape_test.cpp: the tape refuses disorder, and its hash sees what happened and only that.
//
// Goal:   order checks; equal hashes exactly for equal worlds.
// Method: random cuts of stretches; single fields changed one by one.
// Teeth:  seen failing with the date of telling folded into the steps, with the ramp of a stretch left
//         out of the closed form, and with the order check removed.
#include "sim/tape/tape.h"

#include <catch2/catch.hpp>
#include <functional>

#include "tests/readers/hand_written_run.h"

namespace sim::tape {
namespace {

using namespace readers::hand;

std::uint64_t hash_of(const std::vector<Fact>& facts) {
  TraceHash hash;
  for (const Fact& fact : facts) hash.on(fact);
  return hash.value();
}

TEST_CASE("trace hash: where a stretch is cut does not show", "[unit][tape][property]") {
  const std::uint64_t lost = hash_of(lost_and_found()), back = hash_of(rolled_back_run());
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    REQUIRE(hash_of(cut_at_random(lost_and_found(), seed)) == lost);
    REQUIRE(hash_of(cut_at_random(rolled_back_run(), seed)) == back);
  }
}

TEST_CASE("trace hash: a long stretch equals its single steps", "[unit][tape]") {
  const StepsDone whole = steps(1, 1, 1000, 3_s, 7_s);
  std::vector<Fact> single;
  for (std::uint32_t i = 0; i < 1000; ++i) single.emplace_back(9_s, steps(1, 1 + i, 1, 3_s + i * 7_s, 7_s));
  CHECK(hash_of({{10_s, whole}}) == hash_of(single));  // told at another date, too
}

TEST_CASE("trace hash: every field of a step shows", "[unit][tape]") {
  const StepsDone plain = steps(0, 5, 3, 2_s, 10_s);
  const std::vector<std::function<void(StepsDone&)>> changes = {
      [](StepsDone& f) { ++f.start; },       [](StepsDone& f) { ++f.period; },
      [](StepsDone& f) { ++f.compute; },     [](StepsDone& f) { ++f.first_step; },
      [](StepsDone& f) { ++f.count; },       [](StepsDone& f) { ++f.tokens; },
      [](StepsDone& f) { ++f.schedule_step; }, [](StepsDone& f) { ++f.learner; },
      [](StepsDone& f) { ++f.incarnation; }};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    CAPTURE(i);
    StepsDone changed = plain;
    changes[i](changed);
    CHECK(hash_of({{90_s, changed}}) != hash_of({{90_s, plain}}));
  }
}

TEST_CASE("trace hash: dates, order and contributors show", "[unit][tape]") {
  const Fact a(1_s, CheckpointSaved{1, 0}), b(1_s, CheckpointSaved{2, 0});
  CHECK(hash_of({a, b}) != hash_of({b, a}));
  CHECK(hash_of({a}) != hash_of({Fact(2_s, CheckpointSaved{1, 0})}));
  const std::vector<Contributor> one = {{1.0, 0, 1}}, other = {{2.0, 0, 1}};
  CHECK(hash_of({{1_s, merged(1, 0, 1, one)}}) != hash_of({{1_s, merged(1, 0, 1, other)}}));
  const std::vector<Contributor> copy = one;  // at another address
  CHECK(hash_of({{1_s, merged(1, 0, 1, one)}}) == hash_of({{1_s, merged(1, 0, 1, copy)}}));
}

TEST_CASE("tape: readers see facts in order and the hash follows", "[unit][tape]") {
  struct Count : Reader {
    void on(const Fact& fact) override { dates.push_back(fact.at); }
    std::vector<Nanoseconds> dates;
  } first, second;
  Tape tape;
  tape.add(first);
  tape.add(second);
  tape.append({1_s, CheckpointSaved{1, 0}});
  tape.append({1_s, CheckpointSaved{2, 0}});
  tape.append({3_s, RunEnded{0}});
  CHECK(first.dates == std::vector<Nanoseconds>{1_s, 1_s, 3_s});
  CHECK(second.dates == first.dates);
  CHECK(tape.fact_count() == 3);
  CHECK(tape.trace_hash() ==
        hash_of({{1_s, CheckpointSaved{1, 0}}, {1_s, CheckpointSaved{2, 0}}, {3_s, RunEnded{0}}}));
}

TEST_CASE("tape: time that goes back is our bug", "[unit][tape]") {
  Tape tape;
  tape.append({5, CheckpointSaved{1, 0}});
  CHECK_THROWS_WITH(tape.append({4, CheckpointSaved{1, 0}}),
                    "time went backwards on the tape: fact 1 at 4 ns after 5 ns");
}

TEST_CASE("tape: a million facts at one date are our bug", "[unit][tape]") {
  Tape tape;
  const Fact fact(7, CheckpointSaved{1, 0});
  for (int i = 0; i < 999'999; ++i) tape.append(fact);
  CHECK_THROWS_WITH(tape.append(fact),
                    "1000000 facts at 7 ns: the world writes without end while time stands still");
}

}  // namespace
}  // namespace sim::tape

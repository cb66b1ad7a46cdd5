// tests/methods/data_parallel_links_test.cpp: synchronous data parallel over wide links.
//
// Goal:   a step's time has the closed form of an overlapped all-reduce; joining moves the state once;
//         a cut link makes a job wait that is not elastic, and an elastic one go on with one side.
// Method: gradients of 2 MB in 64 buckets; every part of the sum stands in the comment.
// Teeth:  seen failing with the last bucket sent with the others, with the flat ring charged as the
//         two-level one, with growth tried at every step while the link is cut, and with an elastic job
//         that waits for the link.
#include <catch2/catch.hpp>

#include "tests/methods/forked_world.h"

namespace sim::methods {
namespace {

using Catch::Matchers::WithinAbs;
using tape::Activity;
using tape::Kind;
using tape::TargetKind;

Setup job_over(std::size_t regions, double bytes_per_s) {
  Setup setup;
  setup.training.method = MethodKind::kDataParallel;
  setup.training.learners = LearnerSplit::kOne;
  setup.training.buckets = 64;
  setup.use_network(regions, bytes_per_s);
  for (std::size_t r = 0; r < regions; ++r) {
    setup.add_island(std::string(1, static_cast<char>('a' + r)), "r" + std::to_string(r));
  }
  return setup;
}

double step_s(const Setup& setup) {
  const auto steps = live_forked(setup).recorder.of(Kind::kStepsDone);
  const double first = base::to_seconds(steps.at(0).steps_done.period);
  const double last = base::to_seconds(steps.back().steps_done.period);
  CHECK_THAT(last, WithinAbs(first, 1e-6));
  return first;
}

// What is sent first, 63/64 of 2 MB, leaves at 1/3 + 2/3 / 64 = 0.34375 s; the last 31,250 bytes at the
// end of the second of compute, or on the heels of the first: who waits for the link pays its 10 ms once.
// Two slices of a region reduce 2 MB at 1 GB/s, with twice 50 us: 2.1 ms, 1/64 of it behind the end.
struct Expected {
  double share;        // of the payload that each edge carries: 2 (n-1)/n
  double bytes_per_s;
  double extra_s;      // delays of the ring beyond one hop
  double step_s() const {
    const double first = 0.34375 + 0.01 + share * 1968750 / bytes_per_s;
    return std::max(1.0 + 0.01, first) + share * 31250 / bytes_per_s + extra_s + 0.0021 / 64;
  }
};

// Nanosecond roundings of the dates, and doubles of seconds in the engine: below a microsecond.
constexpr double kClose = 1e-6;

// A ring of two: 2 x 20 - 20 - 10 = 10 ms beyond; fast, all but the last bucket hides.
TEST_CASE("data parallel: over two regions the step has its closed form", "[methods]") {
  CHECK_THAT(step_s(job_over(2, 1e7)), WithinAbs(Expected{1, 1e7, 0.01}.step_s(), kClose));
  CHECK_THAT(step_s(job_over(2, 1e6)), WithinAbs(Expected{1, 1e6, 0.01}.step_s(), kClose));
  CHECK_THAT(Expected({1, 1e7, 0.01}).step_s(), WithinAbs(1.0231578125, 1e-9));
}

// A ring of four: 2 x 40 - 20 - 10 = 50 ms beyond, 3/2 of the payload on each edge.
TEST_CASE("data parallel: over four regions the step has its closed form", "[methods]") {
  CHECK_THAT(step_s(job_over(4, 1e7)), WithinAbs(Expected{1.5, 1e7, 0.05}.step_s(), kClose));
  CHECK_THAT(step_s(job_over(4, 1e6)), WithinAbs(Expected{1.5, 1e6, 0.05}.step_s(), kClose));
}

// A flat ring through all four slices of two regions: 2 x 3/4 of the payload on each wide edge.
TEST_CASE("data parallel: a flat ring carries more than two levels", "[methods]") {
  Setup setup = job_over(2, 1e6);
  setup.training.reduce = ReduceKind::kRing;
  CHECK_THAT(step_s(setup), WithinAbs(Expected{1.5, 1e6, 0.01}.step_s(), kClose));
}

std::vector<Nanoseconds> begins(const Lived& lived, Activity activity) {
  std::vector<Nanoseconds> dates;
  for (const auto& fact : lived.recorder.of(Kind::kActivityChanged)) {
    if (fact.activity_changed.activity == activity) dates.push_back(fact.at);
  }
  return dates;
}

std::size_t joins(const Lived& lived) {
  std::size_t count = 0;
  for (const auto& fact : lived.recorder.of(Kind::kTransferStarted)) {
    if (fact.transfer_started.traffic != tape::TrafficClass::kJoin) continue;
    CHECK(fact.transfer_started.bytes == 14'000'000);
    ++count;
  }
  return count;
}

// Both slices of b return together: one copy of 14 MB, 1.41 s, after the upscale of 2 s; nobody steps.
TEST_CASE("data parallel: who joins from another region is sent the state once", "[methods]") {
  Setup setup = job_over(2, 1e7);
  setup.training.elasticity.join_state = true;
  setup.kill(TargetKind::kIsland, "b", 10 * kSecond, 10 * kSecond);
  const Lived lived = live_forked(setup);
  CHECK(joins(lived) == 1);
  const auto upscales = begins(lived, Activity::kUpscaling);
  REQUIRE(upscales.size() == 1);
  const auto stepping = begins(lived, Activity::kStepping);
  CHECK(stepping.back() - upscales[0] == 3'410 * kMillisecond);
  CHECK(lived.account->properties().violation_count() == 0);
}

// The link is cut from 15 to 30 s: b waits, and the job does not stop for it again and again; it grows
// once, when the link is back.
TEST_CASE("data parallel: who cannot be sent the state does not stop the job", "[methods]") {
  Setup setup = job_over(2, 1e7);
  setup.training.elasticity.join_state = true;
  setup.kill(TargetKind::kIsland, "b", 10 * kSecond, 10 * kSecond);
  setup.partition(TargetKind::kLink, "r0--r1", 15 * kSecond, 15 * kSecond);
  const Lived lived = live_forked(setup);
  CHECK(joins(lived) == 1);
  const auto upscales = begins(lived, Activity::kUpscaling);
  REQUIRE(upscales.size() == 1);
  CHECK(upscales[0] >= 30 * kSecond);
  CHECK(upscales[0] <= 31 * kSecond);
}

TEST_CASE("data parallel: not elastic, a cut link makes the job wait and go on", "[methods]") {
  Setup setup = job_over(2, 1e7);
  setup.training.elasticity.elastic = false;
  setup.partition(TargetKind::kLink, "r0--r1", 20'500 * kMillisecond, 10 * kSecond);
  const Lived lived = live_forked(setup);
  // The transfer of the step under way breaks at once, or fails when it should begin.
  const auto waits = begins(lived, Activity::kWaitingForNetwork);
  REQUIRE(!waits.empty());
  CHECK(waits[0] <= 21'500 * kMillisecond);
  CHECK(begins(lived, Activity::kStepping).back() == 30'500 * kMillisecond);
  for (const auto& fact : lived.recorder.of(Kind::kStepsDone)) {
    const Nanoseconds end = fact.steps_done.start + fact.steps_done.period;
    CHECK((end <= 20'500 * kMillisecond || fact.steps_done.start >= 30'500 * kMillisecond));
  }
  CHECK(lived.recorder.of(Kind::kStepsDone).back().at > 58 * kSecond);
}

// Step 21 begins at 20 x 1.0231578 = 20.463 s, its first buckets leave 0.34375 s later, into a link that is
// cut for 0.5 s. The collective is tried again 3 s after that, long after the link is back.
TEST_CASE("data parallel: a broken collective hangs for its timeout", "[methods]") {
  Setup setup = job_over(2, 1e7);
  setup.training.elasticity.elastic = false;
  setup.training.elasticity.timeout = 3 * kSecond;
  setup.partition(TargetKind::kLink, "r0--r1", 20'750 * kMillisecond, 500 * kMillisecond);
  const Lived lived = live_forked(setup);
  CHECK(begins(lived, Activity::kWaitingForNetwork).size() == 1);
  CHECK_THAT(base::to_seconds(begins(lived, Activity::kStepping).back()),
             WithinAbs(20 * 1.0231578125 + 0.34375 + 3, 1e-4));
}

// Equal sides: a's goes on alone from 24.5 s, after a notice of 1 s and a downscale of 3 s, with half of
// the batch in steps of 1 s and 1/64 of 2.1 ms. b's copy is stale when the link is back: 14 MB, 1.41 s, after
// the upscale of 2 s.
TEST_CASE("data parallel: elastic, a partition costs what killing one side costs", "[methods]") {
  Setup setup = job_over(2, 1e7);
  setup.training.elasticity.detection = kSecond;
  setup.training.elasticity.join_state = true;
  Setup killed = setup;
  setup.partition(TargetKind::kLink, "r0--r1", 20'500 * kMillisecond, 10 * kSecond);
  killed.kill(TargetKind::kRegion, "r1", 20'500 * kMillisecond, 10 * kSecond);
  const Lived lived = live_forked(setup), other = live_forked(killed);
  CHECK(begins(lived, Activity::kWaitingForNetwork).empty());
  CHECK(begins(lived, Activity::kStepping) == begins(other, Activity::kStepping));
  CHECK(begins(lived, Activity::kStepping).at(1) == 24'500 * kMillisecond);
  CHECK(joins(lived) == 1);
  CHECK(lived.account->at_end()->merged_tokens == other.account->at_end()->merged_tokens);
  CHECK(lived.account->properties().violation_count() == 0);
}

}  // namespace
}  // namespace sim::methods

// tests/readers/recovery_times_test.cpp: how long states are fetched for, from a hand-written story.
//
// Teeth:  seen failing with the bound left out, with a repair counted as fetching, and with what is under
//         way at the end forgotten.
#include "sim/readers/recovery_times.h"

#include <catch2/catch.hpp>

namespace sim::readers {
namespace {

using tape::Activity;

tape::RunShape two_learners() {
  tape::RunShape shape;
  shape.learners.resize(2);
  shape.nominal_step = 2 * base::kSecond;
  return shape;
}

void tell(RecoveryTimes& times, std::int64_t second, std::uint16_t learner, Activity activity) {
  times.on({second * base::kSecond, tape::ActivityChanged{learner, activity}});
}

// Steps of 2 s, H = 4: 8 s are within, 10 s beyond.
TEST_CASE("recovery times: from the first fetch to the next step", "[unit][readers]") {
  const tape::RunShape shape = two_learners();
  RecoveryTimes times(shape, 4);
  tell(times, 0, 0, Activity::kWaitingForRepair);  // 100 s without chips are no recovery
  tell(times, 100, 0, Activity::kCopyingState);
  tell(times, 108, 0, Activity::kStepping);
  CHECK(times.beyond_bound() == 0);
  CHECK(times.longest_steps() == 4.0);
  tell(times, 200, 1, Activity::kCopyingState);
  tell(times, 204, 1, Activity::kWaitingForNetwork);  // the donor is cut off: still not back
  tell(times, 206, 1, Activity::kCopyingState);
  tell(times, 210, 1, Activity::kStepping);
  CHECK(times.beyond_bound() == 1);
  CHECK(times.longest_steps() == 5.0);
}

TEST_CASE("recovery times: broken off begins anew, under way counts at the end", "[unit][readers]") {
  const tape::RunShape shape = two_learners();
  RecoveryTimes times(shape, 4);
  tell(times, 0, 0, Activity::kLoadingCheckpoint);
  tell(times, 30, 0, Activity::kWaitingForRepair);
  tell(times, 50, 0, Activity::kLoadingCheckpoint);
  times.on({62 * base::kSecond, tape::RunEnded{0}});
  CHECK(times.beyond_bound() == 1);
  CHECK(times.longest_steps() == 6.0);
  RecoveryTimes unbounded(shape, 0);
  tell(unbounded, 0, 0, Activity::kCopyingState);
  tell(unbounded, 1000, 0, Activity::kStepping);
  CHECK(unbounded.beyond_bound() == 0);
}

}  // namespace
}  // namespace sim::readers

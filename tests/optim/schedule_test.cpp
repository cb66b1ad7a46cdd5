// tests/optim/schedule_test.cpp: learning-rate factors by hand.
//
// Teeth: seen failing with the cosine started at token 0 instead of the end of the warm-up, with the
//        decay of WSD started at its share instead of 1 minus it, and without the hold at the end.
#include <catch2/catch.hpp>

#include "optim/inner_optimizer.h"

namespace optim {
namespace {

using Catch::Matchers::WithinAbs;

constexpr double kExact = 1e-15;  // a handful of double roundings of numbers below 1

TEST_CASE("schedule: warm-up is linear, then constant", "[unit][optim]") {
  const ScheduleOptions options{ScheduleKind::kConstant, 100.0, 0.0, 0.0, 0.0};
  CHECK(schedule_factor(options, 0.0) == 0.0);
  CHECK_THAT(schedule_factor(options, 25.0), WithinAbs(0.25, kExact));
  CHECK(schedule_factor(options, 100.0) == 1.0);
  CHECK(schedule_factor(options, 1e18) == 1.0);
}

TEST_CASE("schedule: without warm-up the first token has the full rate", "[unit][optim]") {
  CHECK(schedule_factor({ScheduleKind::kConstant, 0.0, 0.0, 0.0, 0.0}, 0.0) == 1.0);
}

TEST_CASE("schedule: cosine falls from the warm-up's end to the horizon", "[unit][optim]") {
  // From 100 to 500 tokens, to 0.2. A quarter on, at 200: cos(45 deg) = sqrt(1/2), factor
  // 0.2 + 0.8 * (1 + 0.70710678) / 2 = 0.88284271. Half on: 0.6. End and later: 0.2.
  const ScheduleOptions options{ScheduleKind::kCosine, 100.0, 500.0, 0.2, 0.0};
  CHECK_THAT(schedule_factor(options, 50.0), WithinAbs(0.5, kExact));
  CHECK_THAT(schedule_factor(options, 100.0), WithinAbs(1.0, kExact));
  CHECK_THAT(schedule_factor(options, 200.0), WithinAbs(0.88284271, 1e-8));
  CHECK_THAT(schedule_factor(options, 300.0), WithinAbs(0.6, kExact));
  CHECK_THAT(schedule_factor(options, 500.0), WithinAbs(0.2, kExact));
  CHECK_THAT(schedule_factor(options, 900.0), WithinAbs(0.2, kExact));
}

TEST_CASE("schedule: warm-up, stable, decay", "[unit][optim]") {
  // Decays over the last quarter of 400 tokens: 1 up to 300, 0.55 at 350 (half way to 0.1), 0.1.
  const ScheduleOptions options{ScheduleKind::kWsd, 10.0, 400.0, 0.1, 0.25};
  CHECK_THAT(schedule_factor(options, 5.0), WithinAbs(0.5, kExact));
  CHECK_THAT(schedule_factor(options, 299.0), WithinAbs(1.0, kExact));
  CHECK_THAT(schedule_factor(options, 350.0), WithinAbs(0.55, kExact));
  CHECK_THAT(schedule_factor(options, 400.0), WithinAbs(0.1, kExact));
  CHECK_THAT(schedule_factor(options, 500.0), WithinAbs(0.1, kExact));
}

TEST_CASE("schedule: a decay that would start inside the warm-up starts at its end",
          "[unit][optim]") {
  // The last 90 % of 100 tokens would start at 10; the warm-up ends at 50. At 75: half way, 0.5.
  const ScheduleOptions options{ScheduleKind::kWsd, 50.0, 100.0, 0.0, 0.9};
  CHECK_THAT(schedule_factor(options, 75.0), WithinAbs(0.5, kExact));
}

}  // namespace
}  // namespace optim

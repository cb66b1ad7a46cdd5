// tests/cases/ledgers_test.cpp: what counts as merged, and a trainer and ledgers that end with a result.
//
// Method: whole runs; token goodput by hand. Fragment p of P = H = 24 is due at steps p + 1, p + 25, ...: so
//         one fragment a step. A take holds all steps since the last adoption. With a second a step and a
//         sync that takes less, every adoption comes one step after its take and overwrites that step. A
//         learner that took part in the merges of steps 1 .. n has merged, in steps of the whole model,
//             (1 + 2 + ... + 24 + 23 (n - 24)) / 24
//         for the first take of a fragment holds every step so far and each later one 23 of 24.
// Teeth:  seen failing on the program before: token 0.6385, 0.2885 and 0.2885 with overwritten work counted;
//         "adopts fragment 0 of sync 692, which is not kept"; peak 0.016 below mean 0.0234 Gbit/s; no word of
//         divergence.
#include <catch2/catch.hpp>

#include "tests/cases/case_run.h"

namespace tests_cases {
namespace {

double merged_steps(int n) { return (300 + 23.0 * (n - 24)) / 24; }

double token_of(const nlohmann::json& summary) { return summary["goodput"]["token"].get<double>(); }

// Fragment sizes differ by a few parameters in 42 million, and tokens are whole.
auto near(double value) { return Approx(value).epsilon(1e-6); }

}  // namespace

TEST_CASE("cases: work that never reaches the global model is no token goodput", "[cases]") {
  SECTION("a region of two of four learners is cut off at 300 s for good") {
    // Merges of steps 1 .. 999 (that of step 1000 is under way at the end), 1 .. 299 of those cut off.
    const auto summary = run_case("partition-forever-2");
    CHECK(token_of(summary) == near((2 * merged_steps(999) + 2 * merged_steps(299)) / 4000));
    CHECK(summary["syncs"]["lone"] == 0);
  }
  SECTION("the only syncer dies at 300.2 s for good") {
    CHECK(token_of(run_case("central-kill-forever")) == near(merged_steps(299) / 1000));
  }
  SECTION("the quorum is all learners, and one of them dies at 300 s for good") {
    CHECK(token_of(run_case("quorumM-dead")) == near(merged_steps(299) / 1000));
  }
}

TEST_CASE("cases: a learner far behind adopts what it was sent", "[cases]") {
  const auto pinned = run_case("not-kept-pinned");
  CHECK(pinned["properties"]["violation_count"] == 0);
  CHECK(pinned["duration_s"].get<double>() == Approx(640).epsilon(1e-6));
  CHECK(run_case("not-kept-slow-link")["duration_s"] == 200.0);
}

// As the file stands it ends before the first step: equal parts of the batch on an island of 8 chips beside one
// of 1,332. With parts by speed all 4 MB have left when the step ends at about 1.4 s. Windows are one step
// long, so the run is one window and a part of the next: its peak is the larger of the first window's mean
// and of the whole run's.
TEST_CASE("cases: no peak is below its mean", "[cases]") {
  const auto wan = run_case("peak-below-mean", "",
                            {"training.split=by-speed", "island.i1.peak=900 TFLOP/s"})["wan"];
  CHECK(wan["bytes"] == 4'000'000);
  CHECK(wan["mean_gbps"].get<double>() > 0.02);
  CHECK(wan["peak_gbps"].get<double>() >= wan["mean_gbps"].get<double>());
  const auto never = run_case("peak-below-mean")["wan"];
  CHECK(never["peak_gbps"].get<double>() >= never["mean_gbps"].get<double>());
}

// Evaluated every 30 steps, on what ten steps merged last: after steps 20 and 50. The distances from the
// optimum grow about 35-fold a step (loss 8.8e62 after 20, so 1e31); a float ends at 3.4e38, some five
// steps on. The evaluation at step 60 is the first that can show it; five waits for merges come before.
TEST_CASE("cases: a run that diverges says when", "[cases]") {
  const auto bad = run_case("d12_nan", "bad");
  CHECK(bad["diverged"]["step"] == 60);
  CHECK(bad["diverged"]["at_s"].get<double>() == Approx(60.25).margin(0.05));
  CHECK(bad["loss"]["final"].is_null());
  CHECK(bad["marks"]["time"]["loss"].is_null());
  CHECK(bad["goodput"]["token"].get<double>() > 0.97);
  CHECK(run_case("d12_nan", "good")["diverged"].is_null());
}

TEST_CASE("cases: failures at every other step end in a result", "[cases]") {
  CHECK(run_case("crash-segv")["duration_s"].get<double>() > 0);
}

}  // namespace tests_cases

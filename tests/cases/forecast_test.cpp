// tests/cases/forecast_test.cpp: validate says before what a run would show, and names the key that mends it.
//
// Goal:   the cases in which a method's defaults lose most of its tokens without a word.
// Method: the table of cases; arithmetic beside each figure; where it is cheap, the run itself.
// Teeth:  seen failing with reports that count for one step only, with syncs that do not share links, with a
//         fleet in phase after faults, with the grace left out of the fit, with gradients left out of
//         what a slice holds, and with thresholds of split and folding ten times as high.
#include <catch2/catch.hpp>

#include "sim/scenario/forecast.h"
#include "tests/cases/case_run.h"

namespace tests_cases {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::WithinAbs;
using sim::scenario::ArmForecast;

ArmForecast forecast_of(const std::string& name, const std::string& arm = "",
                        const std::vector<std::string>& sets = {}) {
  const auto scenario = loaded_case(name, sets);
  return sim::scenario::forecast_arm(scenario, scenario.arms[arm_of(scenario, arm)]);
}

std::string warnings_of(const std::string& name, const std::vector<std::string>& sets = {}) {
  return sim::base::format(sim::scenario::forecast_warnings(loaded_case(name, sets), name + ".toml"));
}

}  // namespace

// step = 6 x 30e9 x 8388608 / (0.4 x (256 x 989 + 512 x 312 + 128 x 459) TFLOP/s) = 8.0 s, so two are 16 s.
// The largest fragment's 4.14 GB go 4/3 round the ring, whose slowest edge has 4 Gbit/s since Iowa reaches
// Tokyo by way of Frankfurt: 11.0 s; with pull, folding and delays 12.5 s. Two thirds of a step times 1 / 0.9
// is the grace that three learners of any phase need: 1.56 + 0.74 = 2.3 steps.
TEST_CASE("cases: fleet-of-three: the overlap is told with the key that mends it", "[cases]") {
  const ArmForecast told = forecast_of("fleet-of-three");
  const auto run = run_case("fleet-of-three", "", {"marks.time=12 h", "marks.tokens=0"});
  CHECK_THAT(told.merges.token, WithinAbs(run["goodput"]["token"].get<double>(), 0.05));
  CHECK_THAT(told.merges.participation, WithinAbs(run["participation"].get<double>(), 0.05));
  CHECK_THAT(warnings_of("fleet-of-three"),
             Contains("training.overlap_steps: arm \"decoupled-diloco\" needs 2.3 steps for its longest sync") &&
                 Contains("hint: overlap_steps = 3 gives participation about 1.00"));
  const ArmForecast mended = forecast_of("fleet-of-three", "", {"arm.decoupled-diloco.overlap_steps=3"});
  CHECK(mended.merges.participation > 0.999);
  CHECK(mended.merges.in_time > 0.999);
  CHECK_THAT(warnings_of("fleet-of-three", {"arm.decoupled-diloco.overlap_steps=3"}),
             !Contains("arm \"decoupled-diloco\""));
  const ArmForecast waits = forecast_of("fleet-of-three", "", {"arm.decoupled-diloco.quorum=3"});
  CHECK_THAT(waits.merges.participation, WithinAbs(1, 1e-9));
}

// 2.5 GB go 4/3 round over 0.9 Gbit/s in about 30 s: every sync is longer than the overlap of 16 s.
TEST_CASE("cases: fleet-of-three with 0.9 Gbit/s to Tokyo: syncs are late, as in the run", "[cases]") {
  const std::vector<std::string> slow = {"link.1.bandwidth=0.9 Gbps", "link.2.bandwidth=0.9 Gbps"};
  std::vector<std::string> sets = slow;
  sets.insert(sets.end(), {"marks.time=12 h", "marks.tokens=0"});
  const ArmForecast told = forecast_of("fleet-of-three", "", slow);
  const auto run = run_case("fleet-of-three", "", sets);
  CHECK(told.merges.in_time < 0.1);
  CHECK_THAT(told.merges.participation, WithinAbs(run["participation"].get<double>(), 0.1));
  CHECK_THAT(told.merges.token, WithinAbs(run["goodput"]["token"].get<double>(), 0.1));
}

TEST_CASE("cases: fleet-of-three: fit is 3, the file that it resolves to says so", "[cases]") {
  const auto scenario = loaded_case("fleet-of-three", {"arm.decoupled-diloco.overlap_steps=fit"});
  CHECK(scenario.arms[0].training.overlap_steps == 3);
  CHECK_THAT(sim::scenario::resolved_text(scenario), Contains("overlap_steps = 3"));
}

// An H100 island of 256 chips beside 64 v5p: 256 x 989 / (64 x 459) = 8.6 times as fast on equal halves.
TEST_CASE("cases: mixed-speeds: by-speed is named, with both forecasts", "[cases]") {
  const std::string told = warnings_of("mixed-speeds");
  CHECK_THAT(told, Contains("training.split: arm \"dp\" has steps of 0.87 s and 7.5 s side by side: tokens "
                            "about 0.21 of native\n  hint: split = \"by-speed\""));
  CHECK_THAT(told, Contains("arm \"decoupled-diloco\" has steps of") && Contains("arm \"streaming\" has steps of"));
  // Data parallel waits: 2 x 0.87 x 7.5 / (0.87 + 7.5) / 2 / 7.5 = 0.208 of native, less the links.
  CHECK_THAT(forecast_of("mixed-speeds", "dp").merges.token, WithinAbs(0.206, 0.005));
  CHECK_THAT(forecast_of("mixed-speeds", "dp", {"training.split=by-speed"}).merges.token, WithinAbs(0.912, 0.01));
  CHECK_THAT(warnings_of("mixed-speeds", {"training.split=by-speed"}), !Contains("training.split"));
}

TEST_CASE("cases: overload-tenth: hardly a due merge is made, none in time", "[cases]") {
  const ArmForecast told = forecast_of("overload-tenth");
  REQUIRE(told.links.size() == 1);
  CHECK_THAT(told.links[0].margin, WithinAbs(0.1005, 0.0005));
  // Two share a link of a tenth of what one needs: one merge every ten steps, or fewer while the syncer's
  // clock runs ahead of its learners.
  CHECK(told.merges.made < 0.12);
  CHECK(told.merges.in_time == 0);
  CHECK_THAT(warnings_of("overload-tenth"), Contains("arm \"decoupled-diloco\" has about") &&
                                                Contains("0.00 of due merges in time"));
}

// 1e9 / 24 x 2 bytes = 83.3 MB, which each shard folds once: 0.758 s at 0.11 GB/s, 2.78 s at 0.03 GB/s, of
// which two at a time are 0.72 merges a step.
TEST_CASE("cases: mergerate-skip: folding is told, and warned of where it is too slow", "[cases]") {
  CHECK_THAT(sim::base::to_seconds(forecast_of("mergerate-skip").merges.fold_time), WithinAbs(0.7576, 1e-3));
  CHECK_THAT(warnings_of("mergerate-skip"), !Contains("merge_rate"));
  const std::vector<std::string> slow = {"training.syncer.merge_rate=0.03 GB/s"};
  CHECK_THAT(warnings_of("mergerate-skip", slow),
             Contains("training.syncer.merge_rate: arm \"decoupled-diloco\" folds its largest fragment in "
                      "2.78 s, overlap_steps are 2 s"));
  CHECK(forecast_of("mergerate-skip", "", slow).merges.in_time == 0);
}

// 12e9 / 24 x 2 bytes = 1 GB: 0.1 s at 10 GB/s, for 64 learners as for one.
TEST_CASE("cases: fold-64: folding does not grow with the learners", "[cases]") {
  const ArmForecast told = forecast_of("fold-64");
  CHECK_THAT(sim::base::to_seconds(told.merges.fold_time), WithinAbs(0.1, 1e-6));
  CHECK_THAT(told.merges.token, WithinAbs(run_case("fold-64")["goodput"]["token"].get<double>(), 0.05));
}

// One chip of 16 GB cannot hold 12e9 x 16 bytes; the file gives its step, so it runs all the same.
TEST_CASE("cases: fold-64: a model that does not fit is warned of beside a given step", "[cases]") {
  CHECK_THAT(warnings_of("fold-64"),
             Contains("island[0].chips: cannot hold the model") && Contains("= 192 GB, on 1 chips of 16 GB"));
  const auto refused = load_case("fold-64", {"training.step_time=0 s"});
  REQUIRE_FALSE(refused.scenario);
  CHECK(refused.refused);  // to forecast from
  CHECK_THAT(sim::base::format(refused.diagnostics), Contains("= 192 GB, on 1 chips of 16 GB"));
  CHECK(load_case("fold-64", {"training.step_time=0 s", "memory=ignore"}).scenario);
}

// A sync takes 0.444 s on the link and 0.52 s in all, of 0.626 s. What the kill leaves out of phase finds less
// than 0.1 s of grace for learners spread over 0.31 s; then steps open faster than they are made, syncs share
// the link, and the grace closes for good. Five seeds of the run give 0.62 +- 0.08 and participation 0.77.
TEST_CASE("cases: the minimal scenario on 3 Gbit/s is told before", "[cases]") {
  const auto loaded = sim::scenario::load_file(std::string(ATOLL_SOURCE_DIR) + "/scenarios/minimal.toml",
                                               {"link.0.bandwidth=3 Gbps"});
  REQUIRE(loaded.scenario);
  const auto told = sim::scenario::forecast_arm(*loaded.scenario, loaded.scenario->arms[0]);
  CHECK_THAT(told.links[0].margin, WithinAbs(1.40, 0.01));
  CHECK_THAT(told.merges.participation, WithinAbs(0.77, 0.05));
  CHECK_THAT(told.merges.token, WithinAbs(0.62, 0.08));
  CHECK(told.merges.in_time < 0.1);
  CHECK_THAT(sim::base::format(sim::scenario::forecast_warnings(*loaded.scenario, "minimal.toml")),
             Contains("hint: overlap_steps = 3 gives participation about"));
}

}  // namespace tests_cases

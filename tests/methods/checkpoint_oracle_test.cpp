// tests/methods/checkpoint_oracle_test.cpp: checkpoint and restart against its exact efficiency.
//
// Goal:   non-elastic data parallel under exponential failures at rate 1/M that also strike while it
//         saves and restarts has
//           efficiency = t / ( M e^(R/M) (e^((t+d)/M) - 1) ),
//         t the work between checkpoints, d their time, R the restart; and under Weibull renewals it
//         has not (the code is not secretly exponential).
// Method: repairs and loads take no time, so that R is the restart; means over independent seeds; their
//         own 99 % interval (Student t). The formula is evaluated here, its values checked against
//         published ones.
// Teeth:  seen failing with failures ignored while restarting (0.562 for 0.499) and with the work before
//         a failure kept.
#include <catch2/catch.hpp>

#include <cmath>

#include "tests/methods/world_fixture.h"

namespace sim::methods {
namespace {

using Catch::Matchers::WithinAbs;

struct Case {
  double mtbf_s, save_s, restart_s, work_s;
  double efficiency() const {
    return work_s / (mtbf_s * std::exp(restart_s / mtbf_s) *
                     (std::exp((work_s + save_s) / mtbf_s) - 1));
  }
};
constexpr Case kFrequent{1080, 10, 600, 147};
constexpr Case kRare{6480, 60, 300, 881.8};

struct Sample {
  double mean = 0, half_width = 0;
};

// Steps of a fifth of a second, so that both intervals of work are whole steps.
double efficiency_of(const Case& c, failure_models::Law law, std::uint64_t seed) {
  Setup setup;
  setup.training.method = MethodKind::kDataParallel;
  setup.training.learners = LearnerSplit::kOne;
  setup.training.step_time = kSecond / 5;
  setup.training.elasticity.elastic = false;
  setup.training.elasticity.recovery = Recovery::kCheckpoint;
  setup.training.elasticity.restart = base::from_seconds(c.restart_s);
  setup.training.checkpoint = {.every = base::from_seconds(c.work_s),
                               .save = base::from_seconds(c.save_s),
                               .load = 0,
                               .redo = true};
  setup.add_island("a", "here", 1, 1);
  setup.failures.push_back({"f", tape::TargetKind::kSlice, "", {law, c.mtbf_s, 0.7, 0, 0}, true,
                            {failure_models::Law::kConstant, 0, 0, 0, 0},
                            failure_models::Age::kNew, 0, chaos::Clock::kWall});
  setup.duration = base::from_seconds(600 * c.mtbf_s);
  setup.seed = seed;
  return live(setup).account->at_end()->goodput.time;
}

Sample sample(const Case& c, failure_models::Law law) {
  constexpr int kSeeds = 20;
  constexpr double kStudent = 2.861;  // 99.5 % point of t with 19 degrees of freedom
  double sum = 0, squares = 0;
  for (int seed = 1; seed <= kSeeds; ++seed) {
    const double e = efficiency_of(c, law, static_cast<std::uint64_t>(seed));
    sum += e;
    squares += e * e;
  }
  const double mean = sum / kSeeds;
  const double variance = (squares - kSeeds * mean * mean) / (kSeeds - 1);
  return {mean, kStudent * std::sqrt(variance / kSeeds)};
}

TEST_CASE("checkpoints: the formula has its published values", "[methods]") {
  CHECK_THAT(kRare.efficiency(), WithinAbs(0.83054, 5e-6));
  CHECK_THAT(kFrequent.efficiency(), WithinAbs(0.49911, 5e-6));
}

TEST_CASE("checkpoints: exponential failures cost what the exact formula says", "[methods]") {
  for (const Case& c : {kRare, kFrequent}) {
    const Sample s = sample(c, failure_models::Law::kExponential);
    CAPTURE(s.mean, c.efficiency());
    CHECK_THAT(s.mean, WithinAbs(c.efficiency(), s.half_width));
    CHECK(s.half_width < 0.015);  // the interval says something
  }
}

// Weibull of shape 0.7 fails in bursts: failures fall on restarts that are lost anyway, and the quiet
// stretches are longer, so the same mean time between failures costs less.
TEST_CASE("checkpoints: Weibull failures of the whole system cost otherwise", "[methods]") {
  for (const Case& c : {kRare, kFrequent}) {
    const Sample s = sample(c, failure_models::Law::kWeibull);
    CAPTURE(s.mean, s.half_width, c.efficiency());
    CHECK(s.mean - s.half_width > c.efficiency());
  }
}

}  // namespace
}  // namespace sim::methods

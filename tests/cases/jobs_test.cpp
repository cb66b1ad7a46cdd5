// tests/cases/jobs_test.cpp: one rule for jobs of slices, whichever method runs them.
//
// Goal:   step times, the all-reduce inside a learner, state after a fault, partitions, detection and
//         waiting come out alike for data parallel and for learners of other methods, at the values that
//         hand calculations give.
// Method: scenarios from file to summary; each value's sum stands above it.
// Teeth:  seen failing on the program before these rules: data parallel at 0.1087 (one-slice-step) and
//         0.700 (partition), 1.000 s steps inside spanning learners, goodput.token of 24.7, and 0.998 of
//         compute beside a straggler.
#include <catch2/catch.hpp>

#include "tests/cases/case_run.h"

namespace tests_cases {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::WithinAbs;
using nlohmann::json;

double goodput_of(const json& summary, const std::string& measure) {
  return summary["goodput"][measure].get<double>();
}
std::int64_t steps_of(const json& summary) { return summary["steps"].get<std::int64_t>(); }

// A chip failure leaves the host its copy of the last step, for everybody: what is lost is the step under
// way, 30 s of repair and 20 s of restart for each failure of the one slice.
TEST_CASE("cases: one learner is data parallel after a chip's failure", "[cases]") {
  for (const std::string arm : {"decoupled-diloco", "dp", "diloco"}) {
    CAPTURE(arm);
    const json summary = run_case("one-slice-step", arm);
    CHECK_THAT(goodput_of(summary, "time"), WithinAbs(0.9055, 5e-5));
    CHECK(steps_of(summary) == 18110);
  }
}

// 1,000 s, of which both stop for the downscale of 10 s, the upscale of 12 s and the copy of 14 GB at
// 625 MB/s, 22.4 s; the side that goes on has two thirds of the slices for 300 s: (655 + 2/3 x 300) / 1000,
// give or take the two steps of about 3 s in which a fault strikes.
TEST_CASE("cases: a partition costs elastic data parallel no more than a kill", "[cases]") {
  const json killed = run_case("kill-region-300s", "dp");
  const json cut_off = run_case("partition-region-300s", "dp");
  CHECK_THAT(goodput_of(killed, "stepping"), WithinAbs(0.856, 6e-3));
  CHECK(goodput_of(cut_off, "stepping") >= goodput_of(killed, "stepping"));
  CHECK(goodput_of(cut_off, "token") >= goodput_of(killed, "token"));
}

// Of 2 GB, 63/64 leave after 0.34375 s and take 0.03 + 3.15 s; the last bucket follows them without a delay
// of its own, 0.05 s; the ring of two has 0.03 s of delays more; 1/64 of the 0.0707 s inside a region is
// behind that: 3.605 s for each of 277 steps, with 2 GB each way.
TEST_CASE("cases: a learner over two regions pays for its gradients like data parallel", "[cases]") {
  for (const std::string arm : {"decoupled-diloco", "dp"}) {
    CAPTURE(arm);
    const json summary = run_case("span-free-wan", arm);
    CHECK(steps_of(summary) == 277);
    CHECK_THAT(goodput_of(summary, "chip"), WithinAbs(1 / 3.605, 5e-4));
    CHECK(summary["wan"]["bytes"].get<std::int64_t>() == 277 * 4'000'000'000);
  }
}

// 24 GB of gradients among 64 slices: 2 x 63/64 x 24 GB / 50 GB/s and 126 x 50 us, 0.9513 s, of which
// 2/3 x 63/64 = 0.65625 s hide: a step of 1.2951 s.
TEST_CASE("cases: gradients inside one region cost every method the same", "[cases]") {
  for (const std::string arm : {"decoupled-diloco", "dp", "diloco"}) {
    CAPTURE(arm);
    const json summary = run_case("default-fabric-12B-M1", arm);
    CHECK_THAT(goodput_of(summary, "chip"), WithinAbs(1 / 1.2951, 5e-4));
    CHECK(steps_of(summary) == 772);
  }
}

TEST_CASE("cases: a faster island's speed stands in the denominator", "[cases]") {
  for (const std::string arm : {"decoupled-diloco", "dp", "dp-nonelastic", "streaming", "diloco"}) {
    CAPTURE(arm);
    const json summary = run_case("one-100x-faster", arm);
    for (const auto& [measure, value] : summary["goodput"].items()) {
      CAPTURE(measure);
      CHECK(value.get<double>() >= 0);
      CHECK(value.get<double>() <= 1);
    }
  }
}

// 2 s of compute for the whole batch on half the chips, and 1/64 of 0.0707 s: 499 whole steps.
TEST_CASE("cases: half the chips take twice as long", "[cases]") {
  for (const std::string arm : {"dp best region", "dec one region"}) {
    CAPTURE(arm);
    const json summary = run_case("steptime-use", arm);
    CHECK(steps_of(summary) == 499);
    CHECK_THAT(goodput_of(summary, "chip"), WithinAbs(0.499, 1e-9));
  }
}

// The largest of eight lognormals of sigma 0.3 has the mean 1.5593 s and the standard deviation 0.299
// (8 exp(0.3 z) phi(z) Phi(z)^7, integrated): 5,000 s are 3,206 steps, and their mean is within three
// times 0.299 / sqrt(3206). The members compute for exp(0.045) = 1.0460 s of it.
TEST_CASE("cases: the slowest member sets a synchronous step", "[cases]") {
  const json summary = run_case("step-sd", "dp");
  CHECK_THAT(5000.0 / static_cast<double>(steps_of(summary)), WithinAbs(1.5593, 0.0158));
  CHECK_THAT(goodput_of(summary, "chip"), WithinAbs(1.0460 / 1.5593, 0.008));
}

// The largest of eight sums of 24 such steps: 24 x 1.1418 s with a standard deviation of 24 x 0.0436
// (drawn 20,000 times); 182 rounds, three times 0.0436 / sqrt(182).
TEST_CASE("cases: the slowest learner sets a round between barriers", "[cases]") {
  const json summary = run_case("step-sd", "diloco");
  CHECK_THAT(5000.0 / static_cast<double>(steps_of(summary)), WithinAbs(1.1418, 0.0097));
}

// 6 x 1e9 x 100,000 / 5e14 = 1.2 s on seven chips, 2.4 s on the slow one: of each 2.4 s they compute
// 7 x 1.2 + 2.4 = 10.8 of 19.2 chip-seconds. In 400 steps, 960 s: 4,320 chip-seconds at 1 kW, 3,360 of
// waiting at 0.2 kW: 4,992 kJ.
TEST_CASE("cases: waiting for a straggler is waiting, within a step and at a barrier", "[cases]") {
  for (const std::string name : {"d05_straggler_dp", "d05_straggler_diloco_h1"}) {
    CAPTURE(name);
    const json whole_steps = run_case(name, "", {"marks.time=\"960 s\""});
    CHECK_THAT(goodput_of(whole_steps, "chip"), WithinAbs(0.5625, 1e-6));
    CHECK_THAT(goodput_of(whole_steps, "time"), WithinAbs(0.5625, 1e-6));
    CHECK_THAT(whole_steps["energy_kwh"].get<double>(), WithinAbs(4992.0 / 3600, 1e-5));
    CHECK_THAT(run_case(name)["energy_kwh"].get<double>(), WithinAbs(1.445, 0.001));
  }
}

// 8 chips at 1.5 x 5e15 x 0.4 FLOP/s take 0.37 ns for their share of the batch.
TEST_CASE("cases: a step shorter than a nanosecond is refused with its length", "[cases]") {
  const auto loaded = load_case("crash-zero-step");
  CHECK_FALSE(loaded.scenario.has_value());
  const std::string text = sim::base::format(loaded.diagnostics);
  CHECK_THAT(text, Contains("model.batch_tokens: must give each slice a step of at least 1 ns"));
  CHECK_THAT(text, Contains("0.3") && Contains(" ns on \"i0/slice-1\""));
}

// Elastic: 150 steps, the notice, a downscale of 10 s, steps to 450 s, an upscale of 12 s, 538 steps.
// Not elastic: the notice is over before the repair: 150 steps, restarted at 470 s, 530 steps; the two
// islands that stayed up hold the state.
TEST_CASE("cases: data parallel notices as late as the others", "[cases]") {
  const std::vector<std::string> late = {"training.detection=\"120 s\""};
  CHECK(steps_of(run_case("d08_data_parallel", "elastic")) == 150 + 290 + 538);
  CHECK(steps_of(run_case("d08_data_parallel", "elastic", late)) == 150 + 170 + 538);
  CHECK(steps_of(run_case("d08_data_parallel", "not elastic")) == 150 + 530);
  CHECK(steps_of(run_case("d08_data_parallel", "not elastic", late)) == 150 + 530);
}

}  // namespace
}  // namespace tests_cases

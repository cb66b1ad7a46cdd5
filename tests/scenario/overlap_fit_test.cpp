// tests/scenario/overlap_fit_test.cpp: overlap_steps = "fit", and the warnings that name a key, by hand.
//
// Teeth:  seen failing with the grace left out of the fit, with the fit never put in, with gradients left out
//         of what a slice holds, and with the number of slices compared the other way round.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <string>

#include "sim/base/diagnostic.h"
#include "sim/scenario/forecast.h"
#include "sim/scenario/load.h"

namespace sim::scenario {
namespace {

using Catch::Matchers::Contains;

// Two learners in two regions, steps of 1 s. P = 2 fragments of 5e8 parameters: 1 GB in bf16, which a ring of
// two sends once over its link. Fabrics and folding are so fast that they count for nothing.
std::string text(const std::string& bandwidth, const std::string& training, const std::string& island = "") {
  return R"(format = 1
name = "Fit"
seed = 1
marks = { time = "1000 s" }
overload = "allow"
memory = "ignore"
[model]
parameters = 1e9
batch_tokens = 65536
utilization = 0.4
[[region]]
name = "r0"
fabric = { bandwidth = "1000000 Gbps", latency = "0 s" }
[[region]]
name = "r1"
fabric = { bandwidth = "1000000 Gbps", latency = "0 s" }
[[link]]
between = ["r0", "r1"]
rtt = "0 ms"
bandwidth = ")" + bandwidth + R"("
[[island]]
name = "a"
region = "r0"
chips = 32
peak = "15.36 TFLOP/s"
)" + island + R"([[island]]
name = "b"
region = "r1"
chips = 32
peak = "15.36 TFLOP/s"
slices = 4
[training]
name = "arm"
sync_every = 20
fragments = 2
)" + training;
}

constexpr const char* kDecoupled = "method = \"decoupled-diloco\"\nsyncer = { merge_rate = \"100000 GB/s\" }\n";

std::int64_t fitted(const std::string& bandwidth, const std::string& training,
                    const std::vector<std::string>& sets = {}) {
  const auto loaded = load_text(text(bandwidth, training), "fit.toml", sets);
  INFO(base::format(loaded.diagnostics));
  REQUIRE(loaded.scenario);
  return loaded.scenario->arms[0].training.overlap_steps;
}

std::string warnings(const std::string& bandwidth, const std::string& training, const std::string& island = "") {
  const auto loaded = load_text(text(bandwidth, training, island), "fit.toml");
  INFO(base::format(loaded.diagnostics));
  REQUIRE(loaded.scenario);
  return base::format(forecast_warnings(*loaded.scenario, "fit.toml"));
}

}  // namespace

// Two learners report within half a step after the wider gap: tau >= sync + 0.5 / 0.9 = sync + 0.556.
TEST_CASE("fit: the fewest steps that the largest fragment's sync and its grace fit into", "[unit]") {
  const std::string fit = std::string(kDecoupled) + "overlap_steps = \"fit\"\n";
  CHECK(fitted("8 Gbps", fit) == 2);                                // 1 s: 1.556
  CHECK(fitted("4 Gbps", fit) == 3);                                // 2 s: 2.556
  CHECK(fitted("5.5 Gbps", fit) == 3);                              // 1.455 s: 2.01
  CHECK(fitted("5.5 Gbps", fit + "grace = \"none\"\n") == 2);       // 1.455
  CHECK(fitted("5.5 Gbps", fit, {"link.0.bandwidth=8 Gbps"}) == 2);
  CHECK(fitted("5.5 Gbps", kDecoupled, {"training.overlap_steps=fit"}) == 3);
  CHECK(fitted("0.1 Gbps", fit) == 19);                             // 80 s: at most H - 1
}

// No grace at barriers: 1 s fits into one step.
TEST_CASE("fit: at barriers the sync alone", "[unit]") {
  const std::string streaming = "method = \"streaming-diloco\"\nwire = \"bf16\"\noverlap_steps = \"fit\"\n";
  CHECK(fitted("8 Gbps", streaming) == 1);
  CHECK(fitted("5.5 Gbps", streaming) == 2);
}

TEST_CASE("fit: other text is refused, the resolved scenario has the number", "[unit]") {
  const auto wrong = load_text(text("8 Gbps", std::string(kDecoupled) + "overlap_steps = \"fits\"\n"), "fit.toml");
  CHECK_THAT(base::format(wrong.diagnostics),
             Contains("training.overlap_steps: must be a whole number or \"fit\"; got \"fits\""));
  const auto loaded = load_text(text("4 Gbps", std::string(kDecoupled) + "overlap_steps = \"fit\"\n"), "fit.toml");
  REQUIRE(loaded.scenario);
  CHECK_THAT(resolved_text(*loaded.scenario), Contains("\noverlap_steps = 3\n"));
}

// 1.6 s a sync on 5 Gbit/s, one step hides: each of two in a round of 20 steps waits 0.6 s, 0.06 s a step.
TEST_CASE("warnings: a sync longer than overlap_steps holds barriers up", "[unit]") {
  const std::string told = warnings("5 Gbps", "method = \"streaming-diloco\"\nwire = \"bf16\"\n");
  CHECK_THAT(told, Contains("training.overlap_steps: arm \"arm\" has syncs of 1.6 s, longer than the 1 s of "
                            "overlap_steps: learners wait 0.06 s a step of 1 s; got 1"));
  CHECK_THAT(told, Contains("hint: overlap_steps = 2 hides it"));
  CHECK(warnings("9 Gbps", "method = \"streaming-diloco\"\nwire = \"bf16\"\n").empty());
}

// 80 s a sync, due every 20 s.
TEST_CASE("warnings: a fragment that cannot merge before it is due again", "[unit]") {
  CHECK_THAT(warnings("0.1 Gbps", "method = \"streaming-diloco\"\nwire = \"bf16\"\n"),
             Contains("training.sync_every: arm \"arm\" has syncs of 80 s, longer than the 20 s after which a "
                      "fragment is due again; got 20"));
}

TEST_CASE("warnings: a slice as large as its island, where chips fail", "[unit]") {
  const std::string failure = "[[failure]]\ntarget = \"chip\"\nmtbi = \"1000 d\"\nrepair = \"10 min\"\n";
  CHECK_THAT(warnings("100 Gbps", kDecoupled + failure),
             Contains("island[0].slices: arm \"arm\" is elastic, and \"a\" is one slice: one failing chip stops "
                      "all 32 of it; got 1"));
  CHECK(warnings("100 Gbps", kDecoupled + failure, "slices = 4\n").empty());
  CHECK(warnings("100 Gbps", kDecoupled).empty());
}

// 1e9 x (14 + 2) bytes are 16 GB; 32 chips of 0.4 GB hold 12.8 GB.
TEST_CASE("memory: a model with its state and gradients must fit its slice", "[unit]") {
  const auto load = [](const std::string& memory, const std::vector<std::string>& sets = {}) {
    std::vector<std::string> all = {"memory=refuse"};
    all.insert(all.end(), sets.begin(), sets.end());
    return load_text(text("100 Gbps", kDecoupled, "chip_memory = \"" + memory + "\"\n"), "fit.toml", all);
  };
  CHECK(load("0.5 GB").scenario);
  CHECK(load("0 B").scenario);  // unknown: not checked
  const auto refused = load("0.4 GB");
  REQUIRE_FALSE(refused.scenario);
  REQUIRE(refused.refused);
  CHECK_THAT(base::format(refused.diagnostics),
             Contains("island[0].chips: cannot hold the model; \"a\": a slice holds the model once: 1e+09 "
                      "parameters x (14 state + 2 gradient) bytes = 16 GB, on 32 chips of 0.4 GB = 12.8 GB"));
  CHECK_THAT(forecast_text(*refused.refused), Contains("tokens merged"));
  CHECK(load("0.4 GB", {"memory=ignore"}).scenario);
}

}  // namespace sim::scenario

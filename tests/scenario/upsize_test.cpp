// tests/scenario/upsize_test.cpp: how long a join stops training, by arithmetic.
//
// Goal:   Figure 12 of Decoupled DiLoCo (arXiv:2604.21428): with H = 24 no downtime while one copy of the
//         model takes up to 6 steps on the link, and that of data parallel, 3 c, where it takes 24.
#include <catch2/catch.hpp>

#include "sim/scenario/forecast.h"
#include "sim/scenario/load.h"

namespace sim::scenario {
namespace {

// 10^6 parameters in bf16 are a copy of 2 MB; the state is three of them; steps of 1 s.
std::vector<ArmForecast> forecast_with(double copy_steps) {
  const std::string text = R"(format = 1
name = "Join"
seed = 1
marks = { time = "1 h" }
overload = "allow"
[model]
parameters = 1000000
batch_tokens = 4096
state_bytes = 6
[learning]
model = "none"
[[region]]
name = "r0"
[[region]]
name = "r1"
[[link]]
between = ["r0", "r1"]
rtt = "1 ms"
bandwidth = ")" + std::to_string(2e6 / copy_steps) + R"( B/s"
[[island]]
name = "a"
region = "r0"
chips = 1
peak = "1 TFLOP/s"
[[island]]
name = "b"
region = "r1"
chips = 1
peak = "1 TFLOP/s"
[training]
method = "decoupled-diloco"
sync_every = 24
fragments = 24
step_time = "1 s"
[[arm]]
name = "data-parallel"
training = { method = "data-parallel" }
)";
  auto loaded = load_text(text, "join.toml", {});
  INFO(base::format(loaded.diagnostics));
  REQUIRE(loaded.scenario);
  return forecast(*loaded.scenario);
}

TEST_CASE("upsize: max(0, 4 c - H) steps beside data parallel's 3 c", "[unit]") {
  const struct {
    double copy_steps, decoupled, data_parallel;
  } rows[] = {{3, 0, 9}, {6, 0, 18}, {9, 12, 27}, {12, 24, 36}, {18, 48, 54}, {24, 72, 72}};
  for (const auto& row : rows) {
    const auto arms = forecast_with(row.copy_steps);
    CHECK_THAT(base::to_seconds(arms[0].upsize_downtime),
               Catch::Matchers::WithinAbs(row.decoupled, 1e-3));
    CHECK_THAT(base::to_seconds(arms[1].upsize_downtime),
               Catch::Matchers::WithinAbs(row.data_parallel, 1e-3));
  }
}

}  // namespace
}  // namespace sim::scenario

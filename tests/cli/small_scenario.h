// tests/cli/small_scenario.h: two arms, two regions, real mathematics, some failures; milliseconds.
#pragma once

#include <string>

namespace tests_cli {

inline std::string small_scenario() {
  return R"(format = 1
name = "Small"
seed = 7
marks = { time = "10 min" }

[model]
parameters = 1000000
batch_tokens = 4096

[learning]
model = "quadratic"
task = "quadratic"
inputs = 8
batch = 16
evaluations = 10

[[region]]
name = "east"
[[region]]
name = "west"
[[link]]
between = ["east", "west"]
bandwidth = "1 Gbps"
rtt = "40 ms"

[[island]]
name = "e"
region = "east"
chips = 4
slices = 2
peak = "1 TFLOP/s"
[[island]]
name = "w"
region = "west"
chips = 4
slices = 2
peak = "1 TFLOP/s"

[training]
method = "decoupled-diloco"
step_time = "1 s"
fragments = 4
sync_every = 8
overlap_steps = 2

[[failure]]
target = "chip"
kind = "exponential"
mtbi = "20 min"
repair = "30 s"

[[arm]]
name = "data-parallel"
training = { method = "data-parallel" }
)";
}

// With one [expect] line more.
inline std::string expecting(const std::string& line) {
  return small_scenario() + "\n[expect]\n" + line + "\n";
}

}  // namespace tests_cli

// tests/experiment/quiet_scenario.h: two islands in two regions, no faults, stopped by tokens.
//
// 40 steps of 4,096 tokens are 163,840; 20 evaluations are one every second step. Steps of 1 s;
// the nominal model has 1e6 parameters, so a fragment or gradient is a few megabytes.
#pragma once

#include <string>

namespace sim::experiment {

// `learning` and `training` are lines of those tables.
inline std::string quiet_scenario(const std::string& learning, const std::string& training) {
  return R"(format = 1
name = "Quiet"
seed = 11
marks = { tokens = 163840 }

[model]
parameters = 1000000
batch_tokens = 4096

[learning]
batch = 16
evaluations = 20
)" + learning + R"(
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
step_time = "1 s"
)" + training;
}

// What both methods have in common in the identities of law 9.
inline std::string quadratic() { return "model = \"quadratic\"\ntask = \"quadratic\"\ninputs = 8\n"; }
inline std::string softmax() { return "model = \"softmax\"\ntask = \"markov\"\nclasses = 8\n"; }
inline std::string plain_sgd() {
  return "inner = { optimizer = \"sgd\", learning_rate = 0.05, clip_norm = 0 }\n";
}

}  // namespace sim::experiment

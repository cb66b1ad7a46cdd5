// tests/cli/small_sweep.h: a goodput question of milliseconds, swept over two keys.
#pragma once

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/cli/run_command.h"

namespace tests_cli {

inline std::string goodput_scenario() {
  return R"(format = 1
name = "Goodput only"
seed = 1
marks = { time = "1 h" }
[model]
parameters = 5e9
batch_tokens = 4194304
[network]
model = "none"
[[region]]
name = "everywhere"
[[island]]
name = "cluster"
region = "everywhere"
chip = "tpu-v5p"
chips = 6400
slices = 64
[training]
name = "decoupled"
method = "decoupled-diloco"
learners = 8
step_time = "4 s"
[[failure]]
name = "chips"
target = "chip"
mtbi = "1 y"
clock = "stepping"
repair = { kind = "exponential", mean = "60 s" }
[[arm]]
name = "elastic"
training = { method = "data-parallel", checkpoint = { every = "0 s", redo = false } }
)";
}

// Three failure rates x two repairs x two arms x seeds 1 .. 5: 60 runs.
inline std::string small_sweep() {
  return R"(format = 1
base = "base.toml"

[sweep]
seeds = "1..5"
reference = "elastic"

[[sweep.axis]]
key = "failure.chips.mtbi"
values = ["30 d", "90 d", "1 y"]

[[sweep.axis]]
key = "training.upscale"
values = ["12 s", "24 s"]
)";
}

// base.toml and small.toml in the place.
inline void write_small_sweep(const Place& place) {
  place.write("base.toml", goodput_scenario());
  place.write("small.toml", small_sweep());
}

// Where its results go, below the place.
inline const std::string kFolder = "results/small.sweep";

inline Outcome sweep(const Place& place, std::vector<std::string> words, const std::string& file = "small.toml") {
  words.insert(words.begin(), {"sweep", file});
  return atoll(words, place.root);
}

// A table whose cells hold no line feed; quotes are taken off.
inline std::vector<std::map<std::string, std::string>> rows_of(const std::string& csv) {
  const auto cells_of = [](const std::string& line) {
    std::vector<std::string> cells(1);
    bool quoted = false;
    for (const char c : line) {
      if (c == '"') {
        quoted = !quoted;
      } else if (c == ',' && !quoted) {
        cells.emplace_back();
      } else {
        cells.back() += c;
      }
    }
    return cells;
  };
  std::istringstream lines(csv);
  std::string line;
  std::getline(lines, line);
  const std::vector<std::string> names = cells_of(line);
  std::vector<std::map<std::string, std::string>> rows;
  while (std::getline(lines, line)) {
    const std::vector<std::string> cells = cells_of(line);
    auto& row = rows.emplace_back();
    for (std::size_t i = 0; i < names.size(); ++i) row[names[i]] = cells.at(i);
  }
  return rows;
}

inline std::string table_of(const Place& place, const std::string& folder, const std::string& name) {
  return text_of(place.root / folder / name);
}

}  // namespace tests_cli

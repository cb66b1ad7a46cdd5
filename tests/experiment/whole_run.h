// tests/experiment/whole_run.h: one arm of a scenario, simulated from text to results and read back.
//
// Every run is a child process (one engine each) and writes a results folder of its own that is gone
// afterwards, so what the tests see is what a user would read.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/experiment/child_process.h"
#include "sim/experiment/simulate.h"
#include "sim/scenario/load.h"
#include "tests/experiment/tape_story.h"

namespace sim::experiment {

// Cells as text by name of column, so that equality is equality of every printed digit; numbers are
// printed with as many digits as read back to the same bits.
using CsvRow = std::map<std::string, std::string>;

struct WholeRun {
  nlohmann::json summary;
  std::vector<CsvRow> loss, convergence, activity;  // empty: the run has no such file
  TapeStory tape;
};

inline std::string text_of_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot be read: " + path.string());
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// A scenario of the repository: "minimal.toml".
inline std::string scenario_text(const std::string& name) {
  return text_of_file(std::filesystem::path(ATOLL_SOURCE_DIR) / "scenarios" / name);
}

inline std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells(1);
  for (const char c : line) {
    if (c == ',') {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  return cells;
}

inline std::vector<CsvRow> read_csv(const std::filesystem::path& path) {
  std::istringstream lines(text_of_file(path));
  std::string line;
  std::getline(lines, line);
  const std::vector<std::string> names = cells_of(line);
  std::vector<CsvRow> rows;
  while (std::getline(lines, line)) {
    const std::vector<std::string> cells = cells_of(line);
    if (cells.size() != names.size()) throw std::runtime_error("ragged row: " + line);
    CsvRow& row = rows.emplace_back();
    for (std::size_t i = 0; i < cells.size(); ++i) row[names[i]] = cells[i];
  }
  return rows;
}

inline scenario::Scenario load_or_throw(const std::string& text,
                                        const std::vector<std::string>& sets) {
  scenario::LoadResult loaded = scenario::load_text(text, "test.toml", sets);
  if (!loaded.scenario) throw std::runtime_error(base::format(loaded.diagnostics));
  return std::move(*loaded.scenario);
}

inline std::size_t arm_index(const scenario::Scenario& scenario, const std::string& name) {
  for (std::size_t i = 0; i < scenario.arms.size(); ++i) {
    if (scenario.arms[i].training.name == name) return i;
  }
  throw std::runtime_error("no arm " + name);
}

// Of merges; data parallel has none.
inline std::uint32_t quorum_of(const scenario::Scenario& scenario, std::size_t arm) {
  const methods::TrainingOptions& training = scenario.arms[arm].training;
  return training.method == methods::MethodKind::kDataParallel
             ? 0
             : static_cast<std::uint32_t>(training.quorum);
}

// `sets` are written as for --set; the seed is the scenario's.
// Errors: std::runtime_error with the diagnostics, or with the reason why the run failed.
inline WholeRun run_whole(const std::string& text, const std::string& arm,
                          const std::vector<std::string>& sets = {}) {
  const scenario::Scenario scenario = load_or_throw(text, sets);
  std::string folder = (std::filesystem::temp_directory_path() / "atoll-run-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) throw std::runtime_error("mkdtemp");

  SimulateRequest request{};
  request.scenario = &scenario;
  request.arm = arm_index(scenario, arm);
  request.seed = scenario.seed;
  request.threads = 1;
  request.results_folder = folder;
  request.record = true;
  InterruptionWatch watch;
  const ChildPoolOptions pool = {.at_a_time = 1, .on_progress = {}, .on_end = {}};
  const auto endings = run_children(
      {[&request](const ParentLink&) { return report::to_json(simulate(request)); }}, pool, watch);

  WholeRun run;
  if (endings[0].kind == EndingKind::kReturned) {
    run.summary = nlohmann::json::parse(endings[0].bytes);
    const std::filesystem::path root(folder);
    run.activity = read_csv(root / "activity.csv");
    const auto read_if_there = [&root](const char* name) {
      return std::filesystem::exists(root / name) ? read_csv(root / name) : std::vector<CsvRow>{};
    };
    run.loss = read_if_there("loss.csv");
    run.convergence = read_if_there("convergence.csv");
    std::ifstream tape(root / "tape.atoll", std::ios::binary);
    run.tape = read_story(tape, quorum_of(scenario, request.arm));
  }
  std::filesystem::remove_all(folder);
  if (endings[0].kind != EndingKind::kReturned) throw std::runtime_error(endings[0].reason);
  return run;
}

// Tokens and loss of every evaluation, without their dates.
inline std::vector<std::pair<std::string, std::string>> trajectory(const WholeRun& run) {
  std::vector<std::pair<std::string, std::string>> points;
  for (const CsvRow& row : run.loss) points.push_back({row.at("tokens"), row.at("loss")});
  return points;
}

// Every measure of every merge, without dates.
inline std::vector<std::string> merges_of(const WholeRun& run) {
  std::vector<std::string> path;
  for (const CsvRow& row : run.convergence) {
    std::string line;
    for (const auto& [column, cell] : row) {
      if (column != "time_s") line += column + "=" + cell + " ";
    }
    path.push_back(line);
  }
  return path;
}

}  // namespace sim::experiment

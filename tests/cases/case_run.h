// tests/cases/case_run.h: small scenarios that once gave a wrong answer, run from file to summary.
//
// Each file of this folder is an input that a reader could have written; the tests beside them assert the
// value that a hand calculation or a law gives. Every run is a child process and writes nothing.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/experiment/child_process.h"
#include "sim/experiment/simulate.h"
#include "sim/scenario/load.h"

namespace tests_cases {

using sim::base::Diagnostic;

inline std::string case_path(const std::string& name) {
  return std::string(ATOLL_SOURCE_DIR) + "/tests/cases/" + name;
}

// NAME.toml of this folder with `sets` as for --set; diagnostics where it is refused.
inline sim::scenario::LoadResult load_case(const std::string& name,
                                           const std::vector<std::string>& sets = {}) {
  return sim::scenario::load_file(case_path(name + ".toml"), sets);
}

inline sim::scenario::Scenario loaded_case(const std::string& name,
                                           const std::vector<std::string>& sets = {}) {
  sim::scenario::LoadResult loaded = load_case(name, sets);
  if (!loaded.scenario) throw std::runtime_error(sim::base::format(loaded.diagnostics));
  return std::move(*loaded.scenario);
}

inline std::size_t arm_of(const sim::scenario::Scenario& scenario, const std::string& arm) {
  if (arm.empty()) return 0;
  for (std::size_t i = 0; i < scenario.arms.size(); ++i) {
    if (scenario.arms[i].training.name == arm) return i;
  }
  throw std::runtime_error("no arm " + arm);
}

// The summary of one arm with the scenario's own seed.
// Errors: std::runtime_error with the reason why the run failed.
inline nlohmann::json run_scenario(const sim::scenario::Scenario& scenario, std::size_t arm) {
  namespace experiment = sim::experiment;
  experiment::SimulateRequest request{};
  request.scenario = &scenario;
  request.arm = arm;
  request.seed = scenario.seed;
  request.threads = 1;
  experiment::InterruptionWatch watch;
  const experiment::ChildPoolOptions pool = {.at_a_time = 1, .on_progress = {}, .on_end = {}};
  const auto endings = experiment::run_children(
      {[&request](const experiment::ParentLink&) {
        return sim::report::to_json(experiment::simulate(request));
      }},
      pool, watch);
  if (endings[0].kind != experiment::EndingKind::kReturned) {
    throw std::runtime_error(endings[0].reason);
  }
  return nlohmann::json::parse(endings[0].bytes);
}

// The same of NAME.toml ("": its first arm) with `sets`.
// Errors: std::runtime_error with the diagnostics, too.
inline nlohmann::json run_case(const std::string& name, const std::string& arm = "",
                               const std::vector<std::string>& sets = {}) {
  const sim::scenario::Scenario scenario = loaded_case(name, sets);
  return run_scenario(scenario, arm_of(scenario, arm));
}

}  // namespace tests_cases

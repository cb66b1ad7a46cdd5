// sim/experiment/experiment.h: one scenario, some arms, some seeds: every run a child process, every
// finished run a whole folder.
//
// All folders are looked at before the first run starts, so a refusal costs nothing. Runs may end
// in any order; what comes back is ordered by arm, then seed, and does not depend on how many ran
// at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sim/experiment/interruption.h"
#include "sim/experiment/results_folder.h"
#include "sim/scenario/scenario.h"
#include "sim/trainer/snapshot_file.h"

namespace sim::experiment {

struct RunPlan {
  std::size_t arm;  // index into Scenario::arms
  std::uint64_t seed;
};

struct ExperimentOptions {
  std::vector<RunPlan> runs;
  int jobs;                    // at a time, at least 1
  int threads;                 // of each, at least 1
  std::string results_folder;  // ".../<stem>"; each run writes <arm>/seed-<n> in it; empty: none
  Overwrite overwrite;
  bool record;
  std::shared_ptr<const trainer::SnapshotFile> resume;  // with one run only; null: from the start
  std::optional<double> abort_at_s;  // tests only: the run aborts at this simulated time
  // The command line that does one of the runs alone, for the report of a bug.
  std::function<std::string(const RunPlan&)> repeat_command;
  std::function<void(double share)> on_progress;  // may be empty
};

struct FinishedRun {
  std::size_t arm;
  std::uint64_t seed;
  nlohmann::ordered_json summary;  // summary.json as written
};

// A bug of ours, with all that is needed to see it again.
struct BugReport {
  std::string scenario, arm, version, reason, command;
  std::uint64_t seed;
};
std::string format(const BugReport& bug);

enum class ExperimentEnd {
  kDone,
  kRefused,      // a folder holds other results; message says which
  kFileTrouble,  // message says where
  kBug,
  kInterrupted,  // signal_number says by what
};

struct ExperimentOutcome {
  ExperimentEnd end = ExperimentEnd::kDone;
  std::vector<FinishedRun> runs;  // in the order of the plan; all of them only when kDone
  std::string message;            // one line and a hint, or the bug report
  int signal_number = 0;
};

// Requires: arms that exist, jobs and threads >= 1; else std::invalid_argument.
ExperimentOutcome run_experiment(const scenario::Scenario& scenario,
                                 const ExperimentOptions& options);

}  // namespace sim::experiment

// sim/experiment/replay.h: the mathematics of a run once more, from its recorded tape alone.
//
// No world, no network, no failures: all of that stands on the tape. Under the settings it was recorded
// with, the losses are the same bit for bit; under another model, task or optimizer they are those of a
// run in which everything happened at the same dates.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "sim/experiment/results_folder.h"
#include "sim/scenario/scenario.h"
#include "sim/trainer/snapshot_file.h"

namespace sim::experiment {

struct ReplayRequest {
  std::string folder;                    // of the recorded run
  std::uint64_t recorded_hash;           // run_hash of its scenario.toml
  const scenario::Scenario* scenario;    // that, with its first arm's learning changed or not
  bool is_changed;                       // then nothing recorded is compared
  std::shared_ptr<const trainer::SnapshotFile> from;  // null: from the beginning
  int threads;
  std::string results;                   // folder to write; empty: none
  Overwrite overwrite;
  std::function<void(double share)> on_progress;  // of the tape's bytes; may be empty
};

enum class ReplayEnd {
  kSame,         // as recorded, bit for bit
  kOther,        // other settings, or nothing was recorded to compare with
  kDifferent,    // message says where first
  kRefused,      // message: the tape does not fit the scenario or the settings
  kFileTrouble,  // message: the tape is missing, damaged or of another format; or a full disk
  kBug,
  kInterrupted,
};

// What `message` holds is one line and mostly a hint, or the bug's reason.
struct ReplayOutcome {
  ReplayEnd end = ReplayEnd::kSame;
  nlohmann::ordered_json replay;  // as replay.json; empty when nothing was replayed
  std::string message;
  int signal_number = 0;
};

// In a child process of its own. Writes loss.csv, convergence.csv (with merges), replay.json and the
// scenario with which it was replayed.
ReplayOutcome replay(const ReplayRequest& request);

}  // namespace sim::experiment

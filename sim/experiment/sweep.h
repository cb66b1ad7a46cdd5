// sim/experiment/sweep.h: a whole sweep: folder, runs, tables; and the joining of its shards.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "sim/experiment/journal.h"
#include "sim/experiment/sweep_folder.h"
#include "sim/experiment/sweep_plan.h"
#include "sim/experiment/sweep_workers.h"

namespace sim::experiment {

struct SweepSettings {
  std::string folder;
  SweepStart start = SweepStart::kFresh;
  Shard shard;
  int jobs = 1;
  bool keep = false;          // results of every run, in folder/kept
  bool retry_failed = false;  // with kResume: runs that failed are done again
  std::uint64_t failures_max = std::numeric_limits<std::uint64_t>::max();  // of this call, all rounds of until_ci
  SweepTestSwitches test;
  std::function<void(const SweepProgress&)> on_progress;  // may be empty
};

enum class SweepEnd {
  kDone,             // tables are written; `failed` runs are in them as failed
  kTooManyFailures,  // stopped early; no tables, but what was done can be resumed
  kRefused,          // the folder or a journal holds something else, or it is in use; message says what
  kFileTrouble,      // message says where; can be resumed
  kBug,
  kInterrupted,      // can be resumed
};

struct SweepOutcome {
  SweepEnd end = SweepEnd::kDone;
  std::string message;
  int signal_number = 0;
  std::uint64_t runs = 0, failed = 0;  // in the folder, earlier ones included
  std::string first_failure;           // which run, why, and the command that repeats it; of a kDone
};

SweepOutcome run_sweep(const SweepPlan& plan, const SweepSettings& settings);

struct MergeTarget {
  std::string folder;  // may be the one that the shards lie in
  bool force = false;  // replace what another sweep left there
};

// Rows of the shards in `folders`, which must be all shards of this one sweep and version, each once
// and complete, into the tables of the target.
SweepOutcome merge_shards(const std::vector<std::string>& folders, const MergeTarget& target);

// The same into a folder that is open for `plan`; the shards must be of this sweep.
SweepOutcome merge_into(const SweepPlan& plan, const std::vector<std::string>& folders, const SweepFolder& folder);

// Text that stands for the sweep in its journals; the second takes the resolved text.
std::string sweep_hash(const SweepPlan& plan);
std::string sweep_hash(const std::string& resolved);

// Which run is the first that failed, why, and the command that repeats it; empty when none did.
std::string first_failure(const SweepPlan& plan, const Journal& journal);

}  // namespace sim::experiment

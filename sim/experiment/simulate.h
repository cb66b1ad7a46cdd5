// sim/experiment/simulate.h: one whole run in this process: world, tape, readers, results.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "sim/report/summary.h"
#include "sim/scenario/scenario.h"
#include "sim/trainer/snapshot_file.h"

namespace sim::experiment {

struct SimulateRequest {
  const scenario::Scenario* scenario;
  std::size_t arm;
  std::uint64_t seed;
  int threads;                   // of the mathematics
  std::string results_folder;    // existing folder to write into; empty: none
  bool record;                   // write the tape too
  // Where the mathematics goes on from; null: the beginning. The world is simulated from its start
  // either way. Requires: a snapshot of this very run.
  std::shared_ptr<const trainer::SnapshotFile> resume;
  std::optional<double> abort_at_s;              // tests only: abort() at this simulated time
  std::function<void(double share)> progress;    // of the way to the last mark; may be empty
};

// Runs one arm with one seed and writes its results. Only once per process (the engine).
// Errors: std::logic_error for our bugs: a law of closing broken, a property violated, a world in
//         which nothing can happen any more.
report::Summary simulate(const SimulateRequest& request);

}  // namespace sim::experiment

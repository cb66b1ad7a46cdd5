// sim/experiment/result_files.h: the files of one run's results folder.
#pragma once

#include <exception>
#include <fstream>
#include <functional>
#include <memory>
#include <string>

#include "sim/readers/run_account.h"
#include "sim/report/step_table.h"
#include "sim/report/summary.h"
#include "sim/report/timeline.h"
#include "sim/tape/tape.h"
#include "sim/tape/tape_file.h"
#include "sim/trainer/snapshot_file.h"
#include "sim/trainer/trainer.h"

namespace sim::experiment {

// Reads along and writes everything at the end: summary.json, steps.csv, traffic.csv, activity.csv,
// faults.csv, timeline.json; with mathematics loss.csv and convergence.csv. Only what would not fit in
// memory is written while the run goes on: snapshots, and on request the tape.
class ResultFiles {
 public:
  // `folder` exists. Errors: std::system_error when a file cannot be written, here and in write().
  ResultFiles(std::string folder, const tape::RunShape& shape, const readers::RunAccount& account);

  void read(tape::Tape& tape);
  void record(tape::Tape& tape, std::uint64_t scenario_hash);
  // A file of its own, while the run goes on: snapshot-<number>.atoll. What fails is thrown by write():
  // here it would be thrown out of whoever says the fact that ends a snapshot.
  void write_snapshot(const trainer::Snapshot& snapshot, const trainer::SnapshotOrigin& origin);
  // `trainer` may be null. Call after RunEnded and Trainer::finish().
  void write(const report::Summary& summary, const trainer::Trainer* trainer);

 private:
  void write_file(const char* name, const std::function<void(std::ostream&)>& content) const;

  std::string folder_;
  const tape::RunShape& shape_;
  const readers::RunAccount& account_;
  report::StepTable steps_;
  report::Timeline timeline_;
  std::ofstream tape_stream_;
  std::unique_ptr<tape::TapeWriter> tape_writer_;
  std::exception_ptr snapshot_failure_;  // the first
};

}  // namespace sim::experiment

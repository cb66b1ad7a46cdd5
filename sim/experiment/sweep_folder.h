// sim/experiment/sweep_folder.h: the folder of a sweep: what it holds says whose it is.
//
//   sweep.toml            the sweep with every value written out, behind two lines: version and shard
//   journal/*.journal     finished runs (journal.h)
//   runs.csv, points.csv  once all runs are there
//   lock                  held while a sweep works here
#pragma once

#include <functional>
#include <optional>
#include <ostream>
#include <string>

#include "sim/experiment/results_folder.h"
#include "sim/experiment/sweep_plan.h"

namespace sim::experiment {

enum class SweepStart {
  kFresh,   // refuse a folder that holds a sweep
  kResume,  // go on with the same sweep; where there is none, begin it
  kForce,   // throw away what another sweep, or this one, left
};

// What the folder's sweep.toml tells.
struct SweepRecord {
  std::string version, text;
  Shard shard;
};
// Nothing when there is no such file or it has another form.
std::optional<SweepRecord> read_record(const std::string& folder);

class SweepFolder {
 public:
  explicit SweepFolder(std::string path) : path_(std::move(path)) {}
  SweepFolder(const SweepFolder&) = delete;
  ~SweepFolder();  // gives the lock back

  // Locks the folder, then looks whose it is. A lock dies with its process, so a killed sweep leaves
  // none behind.
  std::optional<FolderTrouble> open(const SweepRecord& record, SweepStart start);

  // The table under its name, whole or not at all.
  std::optional<FolderTrouble> write_table(const std::string& name,
                                           const std::function<void(std::ostream&)>& content) const;

  // Workers give up their copies, so that the lock ends with the parent.
  void forget_lock();

  const std::string& path() const { return path_; }
  std::string journals() const { return path_ + "/journal"; }

 private:
  std::optional<FolderTrouble> lock();
  std::optional<FolderTrouble> refusal(const SweepRecord& record, SweepStart start) const;

  std::string path_;
  int lock_ = -1;
};

}  // namespace sim::experiment

// sim/experiment/sweep_folder.h: the folder of a sweep: what it holds says whose it is.
//
//   sweep.toml            the sweep in one file, the base as given, behind two lines: version and shard
//   journal/*.journal     finished runs (journal.h)
//   runs.csv, points.csv  once all runs are there
//   lock                  held while a sweep works here
//   shard-I-of-N/         the same of a shard
//   slurm/jobs            of a sweep on Slurm (slurm_jobs.h)
#pragma once

#include <cstdint>
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

// Shards of one sweep (assumed: far more than any cluster takes, and a list of them is still small).
constexpr std::uint64_t kShardCountMax = 1'000'000;

// What the folder's sweep.toml tells.
struct SweepRecord {
  std::string version, text;
  Shard shard;
  bool operator==(const SweepRecord&) const = default;
};
// Nothing when there is no such file or it has another form.
std::optional<SweepRecord> read_record(const std::string& folder);

// Where the rows of a folder's sweep are: in its own journal, or in the journals of its shards.
enum class RowsIn { kFolder, kShards };

// The options that a hint may name.
struct FolderHints {
  std::string elsewhere = "--results DIR";  // writes to another place
  bool may_resume = true;                   // --resume is one
};

class SweepFolder {
 public:
  explicit SweepFolder(std::string path, FolderHints hints = {})
      : path_(std::move(path)), hints_(std::move(hints)) {}
  SweepFolder(const SweepFolder&) = delete;
  ~SweepFolder();  // gives the lock back

  // Locks the folder, then looks whose it is; in a folder that holds something else it leaves nothing.
  // A lock dies with its process, so a killed sweep leaves none behind. A sweep that goes on in its own
  // journal is refused where the rows are in shards: it would do every run again.
  std::optional<FolderTrouble> open(const SweepRecord& record, SweepStart start, RowsIn rows = RowsIn::kFolder);

  // Gives `name` below the folder the content, whole or not at all.
  std::optional<FolderTrouble> write_file(const std::string& name, const std::string& content) const;

  // The table under its name, whole or not at all.
  std::optional<FolderTrouble> write_table(const std::string& name,
                                           const std::function<void(std::ostream&)>& content) const;

  // Workers give up their copies, so that the lock ends with the parent.
  void forget_lock();

  const std::string& path() const { return path_; }
  std::string journals() const { return path_ + "/journal"; }

 private:
  std::optional<FolderTrouble> make_folder(const std::string& path) const;
  std::optional<FolderTrouble> lock();
  std::optional<FolderTrouble> foreign() const;
  std::optional<FolderTrouble> refusal(const SweepRecord& record, SweepStart start, RowsIn rows) const;
  std::optional<FolderTrouble> rows_elsewhere() const;
  std::string hint_elsewhere(const char* of_force) const;

  std::string path_;
  FolderHints hints_;
  int lock_ = -1;
};

}  // namespace sim::experiment

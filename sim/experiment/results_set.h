// sim/experiment/results_set.h: the runs below one results folder are one experiment's, or are refused.
//
// Who averages a folder takes every run in it. So a command either adds runs that are not there yet, or
// writes all of them anew; a scenario with other values or arms, or fewer seeds than stand there, would
// leave a mixture. Every summary.json names its set (the scenario's hash without the seed) and its version.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/experiment/results_folder.h"

namespace sim::experiment {

class ResultsSet {
 public:
  // `folder`: ".../<stem>", which need not exist.
  explicit ResultsSet(std::string folder) : folder_(std::move(folder)) {}

  // What the command is going to write: `runs` as "<arm>/seed-<n>", of the set and version that are named.
  // Refuses, unless forced, what would leave runs of another set, of another version or of another command
  // beside them.
  std::optional<FolderTrouble> open(const std::string& set_hash, const std::string& version,
                                    const std::vector<std::string>& runs, Overwrite overwrite);

  // Before the first new run takes its place: those that are not to stand beside it go, all at once.
  std::optional<FolderTrouble> remove_old();

 private:
  std::string folder_;
  std::vector<std::string> old_;  // relative paths of runs that go
};

}  // namespace sim::experiment

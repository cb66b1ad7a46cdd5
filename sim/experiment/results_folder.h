// sim/experiment/results_folder.h: the folder of one run, which appears whole or not at all.
//
// It is written as a hidden sibling and then takes its name in one step of the file system, so a
// reader sees the old results or the new, never a mixture. The resolved scenario in it says whose
// results they are: another scenario's are not overwritten unless asked.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace sim::experiment {

// Why a folder cannot be had, in words for the user.
struct FolderTrouble {
  enum class Kind { kHoldsAnother, kFileSystem } kind;
  std::string message;
};

enum class Overwrite { kSameScenarioOnly, kForce };

class ResultsFolder {
 public:
  explicit ResultsFolder(std::string path);
  ResultsFolder(const ResultsFolder&) = delete;
  ResultsFolder(ResultsFolder&& other) noexcept;
  // Removes the hidden folder, and those parents that open() had to make if they are empty again.
  ~ResultsFolder();

  // Makes the hidden folder with `resolved` as its scenario.toml. Refuses a path that holds the
  // results of another scenario, or something else than results. What a scenario expects of its
  // runs ([expect]) does not make it another one.
  std::optional<FolderTrouble> open(const std::string& resolved, Overwrite overwrite);

  // The hidden folder takes its place; the old results, if any, are gone.
  std::optional<FolderTrouble> publish();

  const std::string& path() const { return path_; }
  const std::string& hidden_path() const { return hidden_path_; }  // empty unless open

 private:
  std::string path_, hidden_path_;
  std::vector<std::string> made_parents_;  // outermost first
};

}  // namespace sim::experiment

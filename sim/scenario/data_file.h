// sim/scenario/data_file.h: reads the file that [learning] names, once for all arms.
//
// It is read when the scenario is loaded, before any run is forked: so a mistake in it is told with
// all others, and runs share its memory.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "optim/csv_task.h"
#include "optim/text_task.h"
#include "sim/base/schema.h"
#include "sim/trainer/learning_options.h"

namespace sim::scenario {

class DataFiles {
 public:
  // `folder` is where files are looked for, with a slash at its end, or empty.
  explicit DataFiles(std::string folder) : folder_(std::move(folder)) {}

  // Where the arm trains on a file: fills learning.task.text or .table, learning.data.bytes and
  // .checksum. `arm` is the tree that the arm was bound from: diagnostics name its keys.
  void load(const base::Value& arm, trainer::LearningOptions& learning, base::Problems& problems);

  bool missing() const { return missing_; }  // a file that cannot be read

 private:
  using Content = std::shared_ptr<const std::string>;  // null: cannot be read

  Content content(const std::string& path, const base::Place& place, const std::string& written,
                  base::Problems& problems);
  void load_text(const std::string& path, const std::string& content, const base::Place& place,
                 trainer::LearningOptions& learning, base::Problems& problems);
  void load_table(const base::Value& arm, const std::string& path, const std::string& content,
                  trainer::LearningOptions& learning, base::Problems& problems);

  std::string folder_;
  bool missing_ = false;
  std::map<std::string, Content> contents_;  // by path
  std::map<std::string, std::shared_ptr<const optim::Text>> texts_;
  std::map<std::pair<std::string, std::string>, std::shared_ptr<const optim::Table>> tables_;  // and target
};

}  // namespace sim::scenario

// sim/experiment/temporary_folder.h: a folder that is gone with its object.
#pragma once

#include <string>

namespace sim::experiment {

class TemporaryFolder {
 public:
  // Named `lead` and six letters, where TMPDIR says.
  // Errors: std::system_error when it cannot be made.
  explicit TemporaryFolder(const std::string& lead);
  TemporaryFolder(const TemporaryFolder&) = delete;
  ~TemporaryFolder();
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace sim::experiment

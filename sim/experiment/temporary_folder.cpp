// sim/experiment/temporary_folder.cpp: see temporary_folder.h.
#include "sim/experiment/temporary_folder.h"

#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

namespace sim::experiment {

namespace fs = std::filesystem;

TemporaryFolder::TemporaryFolder(const std::string& lead) {
  path_ = (fs::temp_directory_path() / (lead + "XXXXXX")).string();
  if (mkdtemp(path_.data()) == nullptr) {
    throw std::system_error(errno, std::generic_category(), path_ + ": error: cannot be written");
  }
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace sim::experiment

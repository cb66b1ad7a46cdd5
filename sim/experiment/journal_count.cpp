// sim/experiment/journal_count.cpp: see journal_count.h.
#include "sim/experiment/journal_count.h"

#include <filesystem>
#include <fstream>
#include <system_error>

namespace sim::experiment {

namespace fs = std::filesystem;

const JournalCount& JournalCounter::update(const std::string& folder) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    std::uint64_t& from = read_until_[entry->path().string()];
    const std::uintmax_t size = entry->file_size(error);
    if (error) return count_;
    if (size <= from) continue;  // nothing new: not opened
    std::ifstream file(entry->path(), std::ios::binary);
    file.seekg(static_cast<std::streamoff>(from));
    for (std::string line; std::getline(file, line) && !file.eof();) {
      from += line.size() + 1;
      const bool failed = line.find(" [\"failed\",") != std::string::npos;
      if (failed) ++count_.failed;
      if (failed || line.find(" [\"run\",") != std::string::npos) ++count_.done;
    }
  }
  return count_;
}

}  // namespace sim::experiment

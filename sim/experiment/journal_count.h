// sim/experiment/journal_count.h: how far a sweep of another process is, seen from its journals.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace sim::experiment {

struct JournalCount {
  std::uint64_t done = 0, failed = 0;  // failed ones are done, too
};

// Counts rows as they come; each update reads what is new. For progress: rows are not checked.
class JournalCounter {
 public:
  const JournalCount& update(const std::string& folder);
  const JournalCount& count() const { return count_; }

 private:
  std::map<std::string, std::uint64_t> read_until_;  // per file, end of its last whole line
  JournalCount count_;
};

}  // namespace sim::experiment

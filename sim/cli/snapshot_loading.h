// sim/cli/snapshot_loading.h: the snapshot that a command line names, or why it cannot be used.
#pragma once

#include <memory>
#include <string>

#include "sim/trainer/snapshot_file.h"

namespace sim::cli {

struct LoadedSnapshot {
  std::shared_ptr<const trainer::SnapshotFile> file;
  int exit_code = 0;  // when there is none; what is wrong is then on stderr
};

// Refuses a damaged file, another format, and what another version of the program wrote.
LoadedSnapshot load_snapshot(const std::string& path);

// That the snapshot is not of a run of this scenario.
void say_other_scenario(const std::string& scenario, const std::string& snapshot);

}  // namespace sim::cli

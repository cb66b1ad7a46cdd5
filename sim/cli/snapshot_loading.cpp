// sim/cli/snapshot_loading.cpp: see snapshot_loading.h.
#include "sim/cli/snapshot_loading.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "sim/cli/output.h"
#include "sim/cli/verbs.h"
#include "sim/experiment/version.h"

namespace sim::cli {

LoadedSnapshot load_snapshot(const std::string& path) {
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in || in.peek() == std::ifstream::traits_type::eof()) {
    print_error(fmt::format("{}: error: cannot be read: {}\n", path,
                            errno == 0 ? "it is empty" : std::strerror(errno)));
    return {nullptr, kFileTrouble};
  }
  auto file = std::make_shared<trainer::SnapshotFile>();
  try {
    *file = trainer::read_snapshot(in);
  } catch (const trainer::SnapshotFileError& error) {
    print_error(fmt::format("{}: error: {}\n", path, error.what()));
    return {nullptr, kFileTrouble};
  }
  const std::string version = experiment::version_text();
  if (file->origin.version != version) {
    print_error(fmt::format("{}: error: was written by version \"{}\"; this is \"{}\"\n"
                            "  hint: another version may train other bits; use the one that wrote it\n",
                            path, file->origin.version, version));
    return {nullptr, kMistake};
  }
  return {std::move(file), 0};
}

void say_other_scenario(const std::string& scenario, const std::string& snapshot) {
  print_error(fmt::format("{}: error: is another scenario than that of {}\n"
                          "  hint: the scenario.toml beside a snapshot is its own\n",
                          scenario, snapshot));
}

}  // namespace sim::cli

// sim/experiment/version.cpp: see version.h. The commit is looked up by every build, in
// write_version.cmake; the rest is fixed when the build is configured.
#include "sim/experiment/version.h"

#include <fmt/format.h>

#include "atoll_version.h"

namespace sim::experiment {

std::string version_text() {
  return fmt::format("{} ({}, {})", ATOLL_RELEASE, commit_text(), isa_text());
}

std::string commit_text() { return ATOLL_COMMIT; }
std::string isa_text() { return ATOLL_ISA_LEVEL; }
std::string simgrid_version_text() { return ATOLL_SIMGRID_VERSION; }

}  // namespace sim::experiment

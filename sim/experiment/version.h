// sim/experiment/version.h: which build made a result.
//
// A run is a function of (version, scenario, seed), so the version names all that may move a digit:
// release, commit and the instruction-set level of the mathematics.
#pragma once

#include <string>

namespace sim::experiment {

// "0.1.0 (2ebcca851e80, x86-64-v3)"; with sources that differ from the commit, or without git, a hash
// of them stands behind it: "2ebcca851e80-dirty.5f1d0c9a77e2", "nogit.5f1d0c9a77e2".
std::string version_text();

std::string commit_text();
std::string isa_text();
std::string simgrid_version_text();

}  // namespace sim::experiment

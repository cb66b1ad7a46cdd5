// sim/experiment/recorded_faults.h: the faults.csv of one run, fed to another in place of its own.
//
// That is how one run's bad luck is given to another method, or repeated exactly: no fault is
// drawn.
#pragma once

#include <string>
#include <vector>

#include "sim/base/diagnostic.h"
#include "sim/chaos/fault_options.h"
#include "sim/scenario/scenario.h"

namespace sim::experiment {

struct RecordedFaults {
  std::vector<chaos::FaultOptions> faults;
  std::vector<base::Diagnostic> diagnostics;  // empty: all was well
  bool unreadable = false;                    // the file itself: exit 3
};
RecordedFaults read_recorded_faults(const std::string& path);

// Every arm gets these faults and no failure model. Returns what does not fit the scenario, such as
// a region that it does not have; the places are in no file that the user wrote, so none is named.
std::vector<base::Diagnostic> replace_failures(scenario::Scenario& scenario,
                                               const RecordedFaults& recorded,
                                               const std::string& path);

}  // namespace sim::experiment

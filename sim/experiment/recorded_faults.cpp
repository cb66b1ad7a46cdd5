// sim/experiment/recorded_faults.cpp: see recorded_faults.h.
#include "sim/experiment/recorded_faults.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>

#include "sim/base/schema.h"
#include "sim/scenario/fault_file.h"
#include "sim/scenario/load.h"

namespace sim::experiment {

RecordedFaults read_recorded_faults(const std::string& path) {
  RecordedFaults recorded;
  errno = 0;
  std::ifstream file(path);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  if (!file || file.bad()) {
    base::Diagnostic diagnostic;
    diagnostic.file = path;
    diagnostic.message = std::string("cannot be read: ") + std::strerror(errno != 0 ? errno : EIO);
    recorded.diagnostics.push_back(diagnostic);
    recorded.unreadable = true;
    return recorded;
  }
  base::Problems problems;
  recorded.faults = scenario::parse_faults(text.str(), path, problems);
  recorded.diagnostics = std::move(problems.list());
  base::sort_and_unite(recorded.diagnostics);
  return recorded;
}

std::vector<base::Diagnostic> replace_failures(scenario::Scenario& scenario,
                                               const RecordedFaults& recorded,
                                               const std::string& path) {
  for (scenario::Arm& arm : scenario.arms) {
    arm.failures.clear();
    arm.faults = recorded.faults;
  }
  scenario::LoadResult checked = scenario::load_text(scenario::resolved_text(scenario), path, {},
                                                     std::nullopt, scenario.folder);
  for (base::Diagnostic& diagnostic : checked.diagnostics) diagnostic.position = {};
  base::sort_and_unite(checked.diagnostics);
  return checked.diagnostics;
}

}  // namespace sim::experiment

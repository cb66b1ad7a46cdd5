// sim/cli/loading.cpp: see loading.h.
#include "sim/cli/loading.h"

#include <utility>
#include <vector>

#include "sim/base/diagnostic.h"
#include "sim/cli/output.h"
#include "sim/cli/verbs.h"
#include "sim/experiment/recorded_faults.h"
#include "sim/scenario/load.h"

namespace sim::cli {
namespace {

Loaded refused(const std::vector<base::Diagnostic>& diagnostics, int exit_code) {
  print_error(base::format(diagnostics));
  return {std::nullopt, exit_code};
}

}  // namespace

Loaded load(const CommandLine& line) {
  scenario::LoadResult result = scenario::load_file(line.file, line.sets, line.seed);
  if (!result.scenario) {
    return refused(result.diagnostics, result.file_missing ? kFileTrouble : kMistake);
  }
  if (!line.faults.empty()) {
    const experiment::RecordedFaults recorded = experiment::read_recorded_faults(line.faults);
    if (!recorded.diagnostics.empty()) {
      return refused(recorded.diagnostics, recorded.unreadable ? kFileTrouble : kMistake);
    }
    const auto misfits = experiment::replace_failures(*result.scenario, recorded, line.faults);
    if (!misfits.empty()) return refused(misfits, kMistake);
  }
  return {std::move(result.scenario), 0};
}

}  // namespace sim::cli

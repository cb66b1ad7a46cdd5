// sim/cli/loading.cpp: see loading.h.
#include "sim/cli/loading.h"

#include <fmt/format.h>

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
  return {std::nullopt, exit_code, std::nullopt};
}

}  // namespace

Loaded load(const CommandLine& line) {
  scenario::LoadResult result = scenario::load_file(line.file, line.sets, line.seed);
  if (!result.scenario) {
    Loaded told = refused(result.diagnostics, result.file_missing ? kFileTrouble : kMistake);
    told.refused = std::move(result.refused);
    return told;
  }
  if (!line.faults.empty()) {
    const experiment::RecordedFaults recorded = experiment::read_recorded_faults(line.faults);
    if (!recorded.diagnostics.empty()) {
      return refused(recorded.diagnostics, recorded.unreadable ? kFileTrouble : kMistake);
    }
    const auto misfits = experiment::replace_failures(*result.scenario, recorded, line.faults);
    if (!misfits.empty()) return refused(misfits, kMistake);
  }
  return {std::move(result.scenario), 0, std::nullopt};
}

std::optional<std::size_t> arm_named(const std::string& name, const std::string& option,
                                     const std::string& file, const scenario::Scenario& scenario) {
  std::vector<std::string> names;
  for (const scenario::Arm& arm : scenario.arms) names.push_back(arm.training.name);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return i;
  }
  base::Diagnostic diagnostic;
  diagnostic.file = file;
  diagnostic.key = option;
  diagnostic.message = fmt::format("no such arm; got {}", name);
  const std::string near = base::nearest_name(name, names);
  diagnostic.hint = near.empty() ? fmt::format("arms here are {}", fmt::join(names, ", "))
                                 : fmt::format("did you mean '{}'?", near);
  print_error(base::format(std::vector{diagnostic}));
  return std::nullopt;
}

}  // namespace sim::cli

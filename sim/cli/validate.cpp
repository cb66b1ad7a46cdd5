// sim/cli/validate.cpp: `atoll validate`: is the file right, and will the fleet carry it?
#include "sim/base/diagnostic.h"
#include "sim/cli/loading.h"
#include "sim/cli/output.h"
#include "sim/cli/verbs.h"
#include "sim/scenario/failure_warnings.h"
#include "sim/scenario/forecast.h"

namespace sim::cli {
namespace {

// What the fleet cannot carry is easier to mend with its figures in sight.
int told_beside_refusal(const Loaded& loaded, const CommandLine& line) {
  if (!loaded.refused) return loaded.exit_code;
  scenario::NominalPlans plans(loaded.refused->network);
  print_error(base::format(scenario::forecast_warnings(*loaded.refused, line.file, plans)));
  return print_result(scenario::forecast_text(*loaded.refused, plans)) ? loaded.exit_code : kFileTrouble;
}

}  // namespace

int validate(const CommandLine& line) {
  const Loaded loaded = load(line);
  if (!loaded.scenario) return told_beside_refusal(loaded, line);
  print_error(base::format(scenario::failure_warnings(*loaded.scenario, line.file)));
  scenario::NominalPlans plans(loaded.scenario->network);
  print_error(base::format(scenario::forecast_warnings(*loaded.scenario, line.file, plans)));
  return print_result(scenario::forecast_text(*loaded.scenario, plans)) ? kDone : kFileTrouble;
}

}  // namespace sim::cli

// sim/cli/validate.cpp: `atoll validate`: is the file right, and will the fleet carry it?
#include "sim/base/diagnostic.h"
#include "sim/cli/loading.h"
#include "sim/cli/output.h"
#include "sim/cli/verbs.h"
#include "sim/scenario/failure_warnings.h"
#include "sim/scenario/forecast.h"

namespace sim::cli {

int validate(const CommandLine& line) {
  const Loaded loaded = load(line);
  if (!loaded.scenario) return loaded.exit_code;
  print_error(base::format(scenario::failure_warnings(*loaded.scenario, line.file)));
  print_error(base::format(scenario::forecast_warnings(*loaded.scenario, line.file)));
  return print_result(scenario::forecast_text(*loaded.scenario)) ? kDone : kFileTrouble;
}

}  // namespace sim::cli

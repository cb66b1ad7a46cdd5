// sim/cli/catalogue.cpp: `atoll catalogue`: the hardware that is known by name.
#include "sim/scenario/catalogue.h"

#include "sim/cli/output.h"
#include "sim/cli/verbs.h"

namespace sim::cli {

int catalogue() { return print_result(scenario::catalogue_text()) ? kDone : kFileTrouble; }

}  // namespace sim::cli

// sim/cli/schema.cpp: `atoll schema`: every key of a scenario file.
#include "sim/cli/output.h"
#include "sim/cli/verbs.h"
#include "sim/scenario/reference.h"

namespace sim::cli {

int schema() { return print_result(scenario::schema_text()) ? kDone : kFileTrouble; }

}  // namespace sim::cli

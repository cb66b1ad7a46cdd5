// sim/cli/schema.cpp: `atoll schema`: every key of a scenario file.
#include <fmt/format.h>

#include <algorithm>

#include "sim/base/diagnostic.h"
#include "sim/cli/output.h"
#include "sim/cli/verbs.h"
#include "sim/scenario/reference.h"

namespace sim::cli {

int schema(const CommandLine& line) {
  const std::vector<std::string> names = scenario::section_names();
  if (line.section && std::ranges::count(names, *line.section) == 0) {
    const std::string near = base::nearest_name(*line.section, names);
    print_error(fmt::format("error: no section of a scenario is named '{}'\n  hint: {}\n", *line.section,
                            near.empty() ? fmt::format("sections are {}", fmt::join(names, " "))
                                         : fmt::format("did you mean '{}'?", near)));
    return kMistake;
  }
  const std::string text =
      line.section ? scenario::schema_text(*line.section) : scenario::schema_text();
  return print_result(text) ? kDone : kFileTrouble;
}

}  // namespace sim::cli

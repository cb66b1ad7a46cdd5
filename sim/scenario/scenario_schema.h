// sim/scenario/scenario_schema.h: the keys of the whole file, as one list of sections.
#pragma once

#include <string>
#include <vector>

#include "sim/base/schema.h"
#include "sim/scenario/scenario.h"

namespace sim::scenario {

constexpr int kFormat = 1;

// Keys outside of any list and outside of arms: format, name, seed, overload, [marks], [model],
// [network], [spread], [energy], [cost].
const base::SchemaOf<Scenario>& head_schema();
const base::SchemaOf<MarkOptions>& mark_schema();

// A table or a list of tables of the file, in the order in which files are written.
struct Section {
  std::string name;            // "training"; "" for the top of the file
  bool is_list;                // [[failure]]
  const base::Schema* schema;
  std::string help;
};
const std::vector<Section>& sections();

// Sections that head_schema does not read.
const std::vector<std::string>& body_names();

}  // namespace sim::scenario

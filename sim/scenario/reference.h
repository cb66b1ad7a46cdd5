// sim/scenario/reference.h: the schema's records as text for people.
#pragma once

#include <string>
#include <vector>

namespace sim::scenario {

// Every key with kind, range, default and meaning, as aligned text for a terminal.
std::string schema_text();
// The same of one section. Requires: a name out of section_names; else std::invalid_argument.
std::string schema_text(const std::string& section_name);
// "top" for what stands outside of any table, then "marks", "training" and so on.
std::vector<std::string> section_names();

// The same as Markdown: a heading and a table per section, as it stands in scenarios/README.md.
std::string schema_markdown();

}  // namespace sim::scenario

// sim/scenario/reference.h: the schema's records as text for people.
#pragma once

#include <string>

namespace sim::scenario {

// Every key with kind, range, default and meaning, as aligned text for a terminal.
std::string schema_text();

// The same as Markdown: a heading and a table per section, as it stands in scenarios/README.md.
std::string schema_markdown();

}  // namespace sim::scenario

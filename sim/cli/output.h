// sim/cli/output.h: results to stdout, everything else to stderr, and what a closed pipe means.
#pragma once

#include <string_view>

namespace sim::cli {

// Before anything else is opened: a closed stdin, stdout or stderr becomes /dev/null, or else the
// next file opened would get its number and our text; and a closed pipe becomes an error value.
void prepare_streams();

// Whether the text went out. A reader that went away counts as out (it had what it wanted, and the
// program ends quietly); a full disk does not, and is said on stderr.
bool print_result(std::string_view text);

void print_error(std::string_view text);

}  // namespace sim::cli

// sim/cli/main.cpp: the one place that exits.
#include <fmt/format.h>

#include <exception>
#include <stdexcept>

#include "sim/cli/command_line.h"
#include "sim/cli/output.h"
#include "sim/cli/verbs.h"
#include "sim/experiment/version.h"

namespace {

int execute(const sim::cli::CommandLine& line) {
  switch (line.verb) {
    case sim::cli::Verb::kRun: return sim::cli::run(line);
    case sim::cli::Verb::kCompare: return sim::cli::compare(line);
    case sim::cli::Verb::kReplay: return sim::cli::replay(line);
    case sim::cli::Verb::kValidate: return sim::cli::validate(line);
    case sim::cli::Verb::kSchema: return sim::cli::schema(line);
    case sim::cli::Verb::kCatalogue: return sim::cli::catalogue();
    case sim::cli::Verb::kSweep: return sim::cli::sweep(line);
    case sim::cli::Verb::kMerge: return sim::cli::merge(line);
    case sim::cli::Verb::kBaseline: return sim::cli::baseline(line);
    case sim::cli::Verb::kCheck: return sim::cli::check(line);
  }
  throw std::logic_error("a verb without a function");
}

// Runs are children and report their own bugs; this is for one outside of any run.
int report_bug(const char* what, int argc, char** argv) {
  sim::cli::print_error(fmt::format("bug: {}\n  version: {}\n  repeat with: {}\n", what,
                                    sim::experiment::version_text(),
                                    fmt::join(argv, argv + argc, " ")));
  return sim::cli::kBug;
}

}  // namespace

int main(int argc, char** argv) {
  sim::cli::prepare_streams();
  try {
    const sim::cli::Parsed parsed = sim::cli::parse_command_line(argc, argv);
    return parsed.command ? execute(*parsed.command) : parsed.exit_code;
  } catch (const std::exception& error) {
    return report_bug(error.what(), argc, argv);
  }
}

// sim/cli/merge.cpp: `atoll merge`: the shards of a sweep, joined into its tables.
#include <fmt/format.h>

#include <filesystem>

#include "sim/cli/output.h"
#include "sim/cli/sweep_common.h"
#include "sim/cli/verbs.h"

namespace sim::cli {

int merge(const CommandLine& line) {
  const SweepLine& sweep = line.sweep;
  std::string out = sweep.out;
  if (out.empty()) {
    const std::filesystem::path first = std::filesystem::path(sweep.folders.front()) / "";
    out = first.parent_path().parent_path().string();
    if (out.empty()) out = ".";
  }
  const experiment::SweepOutcome outcome = experiment::merge_shards(sweep.folders, {out, line.force});
  if (const auto code = say_trouble(outcome, outcome.runs)) return *code;
  const std::string text = fmt::format("{} runs, {} failed\n{}/runs.csv\n{}/points.csv\n", outcome.runs, outcome.failed, out, out);
  if (!print_result(text)) return kFileTrouble;
  if (!outcome.first_failure.empty()) print_error("first failed run: " + outcome.first_failure + "\n");
  return outcome.failed > 0 ? kFailedRuns : kDone;
}

}  // namespace sim::cli

// sim/experiment/sweep_load.h: from a sweep file, or a scenario with [sweep], to a checked plan.
//
// A sweep file has `format`, `base` (a scenario, looked for beside it) and [sweep]. Axes are checked by
// laying them on the scenario, so they have no rules of their own: what --set would refuse is refused.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/diagnostic.h"
#include "sim/experiment/sweep_keys.h"
#include "sim/experiment/sweep_plan.h"

namespace sim::experiment {

struct SweepRequest {
  std::string file;
  std::vector<std::string> sets;          // of the command line: after those of the file
  std::vector<std::uint64_t> seeds;       // replace the file's; empty: as written
  std::optional<double> until_ci;         // the same
  std::vector<std::string> metrics;       // the same; the first is until_ci's
  SizeAllowed size = SizeAllowed::kAny;
  bool needs_sweep;                       // a scenario without [sweep] is a mistake, else one point
};

struct SweepLoad {
  std::optional<SweepPlan> plan;
  std::vector<base::Diagnostic> diagnostics;
  bool file_missing = false;
};

SweepLoad load_sweep(const SweepRequest& request);

// "1..10" or "7"; nothing for other text, a falling range or more than 10 million.
std::optional<std::vector<std::uint64_t>> parse_seeds(const std::string& text);

}  // namespace sim::experiment

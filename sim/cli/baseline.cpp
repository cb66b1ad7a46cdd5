// sim/cli/baseline.cpp: `atoll baseline`: a curve for the gate, if it has seeds enough to guard one.
#include <fmt/format.h>

#include "sim/cli/gate_verb.h"
#include "sim/cli/output.h"
#include "sim/cli/verbs.h"

namespace sim::cli {

int baseline(const CommandLine& line) {
  const Measured measured = measure(line);
  if (!measured.curve) return measured.exit_code;
  const experiment::Curve& curve = *measured.curve;
  const std::size_t seeds = curve.cells.front().seeds.size();
  constexpr std::size_t kSeedsMin = 5;  // assumed: of fewer the spread is not known
  const std::size_t needed = std::max(kSeedsMin, seeds < 2 ? 0 : experiment::seeds_needed(curve));
  if (seeds < needed) {
    const std::string reach =
        seeds < 2 ? "one seed tells no spread"
                  : fmt::format("{} seeds find a loss of {:.2f} points in 95 % of cases", seeds,
                                100 * experiment::detectable_loss(curve));
    print_error(fmt::format("{}: error: --seeds: too few to guard this curve; {}, and {:.1f} is wanted\n"
                            "  hint: --seeds 1..{}\n",
                            line.file, reach, 100 * experiment::kGuardedLoss, needed));
    return kMistake;
  }
  if (!write_file(line.sweep.out, experiment::to_json(curve))) return kFileTrouble;
  const std::string text =
      fmt::format("{}: {} points of {}, {} seeds each\nsmallest loss it finds in 95 % of cases: {:.2f} points\n",
                  line.sweep.out, curve.cells.size(), curve.metric, seeds, 100 * experiment::detectable_loss(curve));
  return print_result(text) ? kDone : kFileTrouble;
}

}  // namespace sim::cli

// sim/cli/baseline.cpp: `atoll baseline`: a curve for the gate, if it has seeds enough to guard one.
#include <fmt/format.h>

#include "sim/cli/gate_verb.h"
#include "sim/cli/output.h"
#include "sim/cli/output_file.h"
#include "sim/cli/verbs.h"
#include "sim/experiment/gate_file.h"
#include "sim/experiment/gate_power.h"

namespace sim::cli {
namespace {

std::string in_words(const experiment::SeedCounts& counts) {
  return counts.least == counts.most ? fmt::format("{} seeds", counts.most)
                                     : fmt::format("{} to {} seeds", counts.least, counts.most);
}

// Exit code when the seeds are too few.
std::optional<int> refusal(const CommandLine& line, const experiment::SweepPlan& plan, const experiment::Curve& curve) {
  const experiment::SeedCounts counts = experiment::seed_counts(curve);
  const double wanted = experiment::kGuardedLoss;
  const bool spread_known = counts.least >= 2;
  if (counts.least >= experiment::kSeedsMin && experiment::detectable_loss(curve) <= wanted) return std::nullopt;
  const std::string reach = spread_known ? fmt::format("find a loss of {:.2f} points in 95 % of cases, and {:.1f} is wanted",
                                                       100 * experiment::detectable_loss(curve), 100 * wanted)
                                         : "tell no spread";
  const std::size_t needed = spread_known ? experiment::seeds_needed(curve) : experiment::kSeedsMin;
  const std::string range = fmt::format("{}..{}", plan.seeds.front(), plan.seeds.front() + needed - 1);
  return say_mistake(place_of_seeds(line, plan), fmt::format("too few to guard this curve: they {}; got {}", reach, in_words(counts)),
                     line.seeds.empty() ? fmt::format("write seeds = \"{}\" in [sweep]", range) : "--seeds " + range);
}

}  // namespace

int baseline(const CommandLine& line) {
  const LoadedSweep loaded = load_curve(line);
  if (!loaded.plan) return loaded.exit_code;
  OutputFile file(line.sweep.out);
  if (!file.is_open()) return kFileTrouble;
  const Measured measured = measure(*loaded.plan, line);
  if (!measured.curve) return measured.exit_code;
  const experiment::Curve& curve = *measured.curve;
  if (const auto exit_code = refusal(line, *loaded.plan, curve)) return *exit_code;
  if (!file.write(experiment::to_json(curve))) return kFileTrouble;
  const std::string text =
      fmt::format("{}: {} points of {}, {} each\nsmallest loss it finds in 95 % of cases: {:.2f} points\n", line.sweep.out,
                  curve.cells.size() / curve.metrics.size(),
                  fmt::join(curve.metrics, ", "), in_words(experiment::seed_counts(curve)),
                  100 * experiment::detectable_loss(curve));
  return print_result(text) ? kDone : kFileTrouble;
}

}  // namespace sim::cli

// sim/experiment/gate.cpp: see gate.h.
#include "sim/experiment/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "sim/experiment/command.h"
#include "sim/experiment/sweep_overrides.h"

namespace sim::experiment {
namespace {

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

const CurveCell* find(const Curve& curve, const CurveCell& cell) {
  const auto found = std::ranges::find_if(curve.cells, [&](const CurveCell& other) {
    return other.at == cell.at && other.arm == cell.arm && other.metric == cell.metric;
  });
  return found == curve.cells.end() ? nullptr : &*found;
}

// Why old and new runs are not paired by seed; empty: they are. The values of one seed are a pair whatever
// changed, independent of every other pair; but where none of the draws are shared, two samples find more.
std::string unpaired_because(const Curve& before, const Curve& after,
                             const std::vector<ScenarioChange>& changes) {
  if (before.stream_layout != after.stream_layout) {
    return fmt::format("random streams were laid out anew ({} to {})", before.stream_layout, after.stream_layout);
  }
  for (const ScenarioChange& change : changes) {
    const bool axis = std::ranges::count(after.axes, change.key) > 0;  // each point sets it
    if (!axis && moves_streams(change)) return change.key + " moves the random streams";
  }
  for (const CurveCell& cell : after.cells) {
    const CurveCell* const old = find(before, cell);
    if (old != nullptr && old->seeds != cell.seeds) return "the seeds are others";
  }
  return "";
}

class Comparing {
 public:
  Comparing(const Curve& before, const Curve& after, const GateOptions& options)
      : before_(before), after_(after), options_(options) {
    report_.metrics = after.metrics;
    report_.version_before = before.version;
    report_.version_after = after.version;
    report_.exact = options.exact;
    report_.strict = options.strict;
    report_.seeds_before = seed_counts(before);
    report_.seeds_after = seed_counts(after);
    report_.changes = scenario_changes(before.scenario, after.scenario);
    // Seeds are told beside the test, metrics are the same or the curves are not compared.
    std::erase_if(report_.changes, [](const ScenarioChange& change) {
      return change.key == "sweep.seeds" || change.key.starts_with("sweep.metric");
    });
    report_.smallest_loss = options.smallest_loss;
    report_.tail = tail_of(before.cells.size()) / (options.strict ? 2 : 1);
    const std::string reason = unpaired_because(before, after, report_.changes);
    paired_ = reason.empty();
    report_.test = options.exact ? "exact: trace hashes"
                   : paired_     ? "paired by seed"
                                 : "two samples (Welch): " + reason;
  }

  GateReport run() {
    for (const CurveCell& cell : after_.cells) {
      if (is_told_already(cell)) continue;
      const CurveCell* const old = find(before_, cell);
      report_.cells.push_back(old == nullptr ? unmatched(cell, CellVerdict::kNew) : compared(*old, cell));
    }
    for (const CurveCell& cell : before_.cells) {
      if (is_told_already(cell)) continue;
      if (find(after_, cell) == nullptr) report_.cells.push_back(unmatched(cell, CellVerdict::kMissing));
    }
    std::ranges::stable_sort(report_.cells, [](const GateCell& a, const GateCell& b) {
      return std::pair(!a.fails, -a.loss.mean) < std::pair(!b.fails, -b.loss.mean);
    });
    return std::move(report_);
  }

 private:
  // A trace has no metric: exact mode tells each point once.
  bool is_told_already(const CurveCell& cell) const {
    return options_.exact && cell.metric != report_.metrics.front();
  }

  GateCell unmatched(const CurveCell& cell, CellVerdict verdict) const {
    GateCell result{cell.point, cell.arm, cell.metric, verdict, 0, 0, {}, "", verdict == CellVerdict::kMissing};
    (verdict == CellVerdict::kMissing ? result.before : result.after) = mean(cell.values);
    if (verdict == CellVerdict::kNew) result.command = command(cell, 0);
    return result;
  }

  GateCell compared(const CurveCell& old, const CurveCell& now) {
    GateCell result{now.point,        now.arm,          now.metric, CellVerdict::kHeld,
                    mean(old.values), mean(now.values), {},         "",
                    false};
    if (options_.exact) {
      compare_traces(old, now, result);
      return result;
    }
    result.loss = paired_ ? paired_loss(old.values, now.values, report_.tail)
                          : two_sample_loss(old.values, now.values, report_.tail);
    if (result.loss.low > 0 && result.loss.mean > options_.smallest_loss) result.verdict = CellVerdict::kWorse;
    if (result.loss.high < 0 && -result.loss.mean > options_.smallest_loss) result.verdict = CellVerdict::kBetter;
    result.fails = result.verdict == CellVerdict::kWorse ||
                   (result.verdict == CellVerdict::kBetter && options_.strict);
    result.command = command(now, worst_seed(old, now));
    return result;
  }

  void compare_traces(const CurveCell& old, const CurveCell& now, GateCell& result) const {
    result.loss = {result.before - result.after, 0, 0};
    std::size_t other = 0;
    while (other < now.seeds.size() && other < old.seeds.size() && old.seeds[other] == now.seeds[other] &&
           old.trace_hashes[other] == now.trace_hashes[other]) {
      ++other;
    }
    if (other == now.seeds.size() && other == old.seeds.size()) return;
    result.verdict = CellVerdict::kChanged;
    result.fails = true;
    result.command = command(now, std::min(other, now.seeds.size() - 1));
  }

  // The seed that lost most where seeds are paired, else the one with the lowest value.
  std::size_t worst_seed(const CurveCell& old, const CurveCell& now) const {
    std::vector<double> losses;
    for (std::size_t i = 0; i < now.values.size(); ++i) {
      losses.push_back((paired_ ? old.values[i] : 0.0) - now.values[i]);
    }
    return static_cast<std::size_t>(std::ranges::max_element(losses) - losses.begin());
  }

  std::string command(const CurveCell& cell, std::size_t seed) const {
    std::string text = fmt::format("atoll run {} --arm {} --seed {}", shell_quoted(options_.file),
                                   shell_quoted(cell.arm), cell.seeds[seed]);
    for (const std::string& set : options_.sets) text += " --set " + shell_quoted(set);
    // For this arm alone: others may be illegal there.
    for (const std::string& set : cell.sets) text += " --set " + shell_quoted(for_arm(set, cell.arm));
    return text + " --results ''";
  }

  const Curve& before_;
  const Curve& after_;
  const GateOptions& options_;
  bool paired_ = false;
  GateReport report_;
};

}  // namespace

bool GateReport::passed() const { return failures() == 0; }

std::size_t GateReport::failures() const {
  return static_cast<std::size_t>(std::ranges::count_if(cells, &GateCell::fails));
}

std::size_t GateReport::count(CellVerdict verdict) const {
  return static_cast<std::size_t>(std::ranges::count(cells, verdict, &GateCell::verdict));
}

std::optional<base::Diagnostic> incomparable(const std::string& file, const Curve& before, const SweepPlan& plan) {
  constexpr const char* kHint = "record it again with atoll baseline";
  const auto mistake = [&](const char* key, const std::string& wanted, const std::string& got) {
    return base::Diagnostic{file, {}, key, fmt::format("must be {}, as in the sweep; got {}", wanted, got), kHint};
  };
  const auto differ = [](std::vector<std::string> a, std::vector<std::string> b) {
    std::ranges::sort(a);
    std::ranges::sort(b);
    return a != b;
  };
  const auto listed = [](std::vector<std::string> names) {
    std::ranges::sort(names);
    return fmt::format("[{}]", fmt::join(names, ", "));
  };
  const std::vector<std::string>& metrics = plan.options.metrics;
  if (differ(before.metrics, metrics)) return mistake("metrics", listed(metrics), listed(before.metrics));
  std::vector<std::string> axes;
  for (const Axis& axis : plan.axes) axes.push_back(axis.key);
  if (differ(before.axes, axes)) return mistake("axes", listed(axes), listed(before.axes));
  return std::nullopt;
}

std::vector<std::uint64_t> seeds_of(const Curve& curve) {
  std::set<std::uint64_t> seeds;
  for (const CurveCell& cell : curve.cells) seeds.insert(cell.seeds.begin(), cell.seeds.end());
  return {seeds.begin(), seeds.end()};
}

void keep_seeds_of(const Curve& before, Curve& after) {
  for (CurveCell& cell : after.cells) {
    const CurveCell* const old = find(before, cell);
    if (old == nullptr || !std::ranges::includes(cell.seeds, old->seeds)) continue;
    CurveCell kept = cell;
    kept.seeds.clear(), kept.values.clear(), kept.trace_hashes.clear();
    for (std::size_t i = 0; i < cell.seeds.size(); ++i) {
      if (!std::ranges::binary_search(old->seeds, cell.seeds[i])) continue;
      kept.seeds.push_back(cell.seeds[i]);
      kept.values.push_back(cell.values[i]);
      kept.trace_hashes.push_back(cell.trace_hashes[i]);
    }
    cell = std::move(kept);
  }
}

GateReport compare_curves(const Curve& before, const Curve& after, const GateOptions& options) {
  return Comparing(before, after, options).run();
}

}  // namespace sim::experiment

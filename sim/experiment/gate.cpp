// sim/experiment/gate.cpp: see gate.h.
#include "sim/experiment/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "sim/experiment/command.h"

namespace sim::experiment {
namespace {

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

const CurveCell* find(const Curve& curve, const CurveCell& cell) {
  const auto found = std::ranges::find_if(curve.cells, [&](const CurveCell& other) {
    return other.point == cell.point && other.arm == cell.arm;
  });
  return found == curve.cells.end() ? nullptr : &*found;
}

// Why old and new runs cannot be paired by seed; empty: they can.
std::string unpaired_because(const Curve& before, const Curve& after,
                             const std::vector<ScenarioChange>& changes) {
  if (before.stream_layout != after.stream_layout) {
    return fmt::format("random streams were laid out anew ({} to {})", before.stream_layout, after.stream_layout);
  }
  for (const ScenarioChange& change : changes) {
    if (moves_streams(change)) return change.key + " moves the random streams";
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
    report_.metric = after.metric;
    report_.version_before = before.version;
    report_.version_after = after.version;
    report_.changes = scenario_changes(before.scenario, after.scenario);
    report_.smallest_loss = options.smallest_loss;
    report_.tail = tail_of(std::max(before.cells.size(), after.cells.size()));
    const std::string reason = unpaired_because(before, after, report_.changes);
    paired_ = reason.empty();
    report_.test = options.exact ? "exact: trace hashes"
                   : paired_     ? "paired by seed"
                                 : "two samples (Welch): " + reason;
  }

  GateReport run() {
    for (const CurveCell& cell : after_.cells) {
      const CurveCell* const old = find(before_, cell);
      report_.cells.push_back(old == nullptr ? unmatched(cell, CellVerdict::kNew) : compared(*old, cell));
    }
    for (const CurveCell& cell : before_.cells) {
      if (find(after_, cell) == nullptr) report_.cells.push_back(unmatched(cell, CellVerdict::kMissing));
    }
    std::ranges::stable_sort(report_.cells, [](const GateCell& a, const GateCell& b) {
      return std::pair(!a.fails, -a.loss.mean) < std::pair(!b.fails, -b.loss.mean);
    });
    return std::move(report_);
  }

 private:
  GateCell unmatched(const CurveCell& cell, CellVerdict verdict) const {
    GateCell result{cell.point, cell.arm, verdict, 0, 0, {}, "", verdict == CellVerdict::kMissing};
    (verdict == CellVerdict::kMissing ? result.before : result.after) = mean(cell.values);
    if (verdict == CellVerdict::kNew) result.command = command(cell, 0);
    return result;
  }

  GateCell compared(const CurveCell& old, const CurveCell& now) {
    GateCell result{now.point, now.arm, CellVerdict::kHeld, mean(old.values), mean(now.values), {}, "", false};
    if (report_.seeds_after == 0) {
      report_.seeds_before = old.seeds.size();
      report_.seeds_after = now.seeds.size();
    }
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
    for (const std::string& set : cell.sets) text += " --set " + shell_quoted(set);
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

std::optional<std::string> incomparable(const Curve& before, const Curve& after) {
  if (before.metric != after.metric) {
    return fmt::format("the baseline is of metric {}; this is {}", before.metric, after.metric);
  }
  std::vector<std::string> old_axes = before.axes, axes = after.axes;
  std::ranges::sort(old_axes);
  std::ranges::sort(axes);
  if (old_axes != axes) {
    return fmt::format("the baseline has the axes [{}]; this has [{}]", fmt::join(before.axes, ", "),
                       fmt::join(after.axes, ", "));
  }
  return std::nullopt;
}

GateReport compare_curves(const Curve& before, const Curve& after, const GateOptions& options) {
  return Comparing(before, after, options).run();
}

}  // namespace sim::experiment

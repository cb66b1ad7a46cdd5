// sim/experiment/gate_curve.cpp: see gate_curve.h.
#include "sim/experiment/gate_curve.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>

#include "sim/base/stream_layout.h"
#include "sim/experiment/gate_point.h"
#include "sim/experiment/temporary_folder.h"
#include "sim/experiment/version.h"

namespace sim::experiment {
namespace {

std::size_t place_of(const std::string& names, const std::string& wanted) {
  const auto list = nlohmann::ordered_json::parse(names).get<std::vector<std::string>>();
  const auto found = std::ranges::find(list, wanted);
  return found == list.end() ? std::string::npos : static_cast<std::size_t>(found - list.begin());
}

// False when the run has no such number.
bool add_run(CurveCell& cell, const Journal& journal, const RunKey& key) {
  const Journal::Row row = journal.row(key);
  const std::string& names = journal.names()[row.names];
  const std::size_t value = place_of(names, "n " + cell.metric), hash = place_of(names, "t trace_hash");
  const std::optional<double> number = value == std::string::npos ? std::nullopt : Journal::number_in(row.values[value]);
  if (!number) return false;
  cell.seeds.push_back(key.seed);
  cell.values.push_back(*number);
  cell.trace_hashes.push_back(hash == std::string::npos ? "" : nlohmann::json::parse(row.values[hash]).get<std::string>());
  return true;
}

MeasuredCurve curve_of(const SweepPlan& plan, const Journal& journal, SweepOutcome outcome) {
  Curve curve;
  curve.metrics = plan.options.metrics;
  curve.version = version_text();
  curve.stream_layout = base::kStreamLayout;
  curve.scenario = shown_text(plan);
  for (const Axis& axis : plan.axes) curve.axes.push_back(axis.key);
  std::optional<RunKey> last;
  for (const auto& [key, entry] : journal.entries()) {
    if (!last || last->point != key.point || last->arm != key.arm) {
      for (const std::string& metric : curve.metrics) {
        curve.cells.push_back({plan.name_of(key.point), values_at(plan, key.point), plan.arm_name(key.arm), metric,
                               plan.sets_at(key.point), {}, {}, {}});
      }
    }
    last = key;
    for (std::size_t i = curve.cells.size() - curve.metrics.size(); i < curve.cells.size(); ++i) {
      if (add_run(curve.cells[i], journal, key)) continue;
      return {std::move(outcome), std::nullopt, curve.cells[i].arm, curve.cells[i].metric};
    }
  }
  return {std::move(outcome), std::move(curve), "", ""};
}

}  // namespace

bool is_gate_metric(const std::string& metric) { return std::ranges::count(kGateMetrics, metric) > 0; }

MeasuredCurve measure_curve(const SweepPlan& plan, int jobs, const SweepTestSwitches& test,
                            const std::function<void(const SweepProgress&)>& on_progress) {
  try {
    const TemporaryFolder folder("atoll-gate-");
    SweepSettings settings{};
    settings.folder = folder.path();
    settings.jobs = jobs;
    settings.test = test;
    settings.on_progress = on_progress;
    SweepOutcome outcome = run_sweep(plan, settings);
    if (outcome.end != SweepEnd::kDone || outcome.failed > 0) return {std::move(outcome), std::nullopt, "", ""};
    Journal journal;
    journal.read(folder.path() + "/journal", sweep_hash(plan), version_text());
    return curve_of(plan, journal, std::move(outcome));
  } catch (const std::system_error& error) {
    SweepOutcome outcome;
    outcome.end = SweepEnd::kFileTrouble;
    outcome.message = error.what();
    return {std::move(outcome), std::nullopt, "", ""};
  }
}

}  // namespace sim::experiment

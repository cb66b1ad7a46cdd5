// sim/experiment/gate_curve.cpp: see gate_curve.h.
#include "sim/experiment/gate_curve.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <stdexcept>
#include <system_error>

#include "sim/base/random.h"
#include "sim/base/stream_layout.h"
#include "sim/experiment/gate_statistics.h"
#include "sim/experiment/statistics.h"
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
bool add_run(CurveCell& cell, const Journal& journal, const RunKey& key, const std::string& metric) {
  const Journal::Row row = journal.row(key);
  const std::string& names = journal.names()[row.names];
  const std::size_t value = place_of(names, "n " + metric), hash = place_of(names, "t trace_hash");
  if (value == std::string::npos || !row.values[value].is_number()) return false;
  cell.seeds.push_back(key.seed);
  cell.values.push_back(row.values[value].get<double>());
  cell.trace_hashes.push_back(hash == std::string::npos ? "" : row.values[hash].get<std::string>());
  return true;
}

SweepOutcome trouble(SweepEnd end, std::string message) {
  SweepOutcome outcome;
  outcome.end = end;
  outcome.message = std::move(message);
  return outcome;
}

MeasuredCurve curve_of(const SweepPlan& plan, const Journal& journal, SweepOutcome outcome) {
  Curve curve;
  curve.metric = plan.options.metric;
  curve.version = version_text();
  curve.stream_layout = base::kStreamLayout;
  curve.scenario = shown_text(plan);
  for (const Axis& axis : plan.axes) curve.axes.push_back(axis.key);
  for (const auto& [key, entry] : journal.entries()) {
    const std::string point = plan.name_of(key.point), &arm = plan.arm_name(key.arm);
    if (curve.cells.empty() || curve.cells.back().point != point || curve.cells.back().arm != arm) {
      curve.cells.push_back({point, arm, plan.sets_at(key.point), {}, {}, {}});
    }
    if (entry.failed) {
      return {trouble(SweepEnd::kTooManyFailures,
                      fmt::format("a run failed: {}{}arm {}, seed {}: {}", point, point.empty() ? "" : ", ", arm,
                                  key.seed, journal.row(key).reason)),
              std::nullopt};
    }
    if (!add_run(curve.cells.back(), journal, key, curve.metric)) {
      return {trouble(SweepEnd::kRefused,
                      fmt::format("{}: error: --metric: {} is no number in the summary of arm '{}'\n  hint: goodput.stepping is one",
                                  plan.file, curve.metric, arm)),
              std::nullopt};
    }
  }
  return {std::move(outcome), std::move(curve)};
}

using Json = nlohmann::ordered_json;

std::string checksum_of(const Json& json) {
  return fmt::format("{:016x}", base::hash_name(0, json.dump()));
}

Json json_of(const CurveCell& cell) {
  return {{"point", cell.point}, {"arm", cell.arm},       {"set", cell.sets},
          {"seeds", cell.seeds}, {"values", cell.values}, {"trace_hashes", cell.trace_hashes}};
}

CurveCell cell_of(const Json& json) {
  CurveCell cell{json.at("point"), json.at("arm"), json.at("set"), json.at("seeds"), json.at("values"),
                 json.at("trace_hashes")};
  if (cell.values.size() != cell.seeds.size() || cell.trace_hashes.size() != cell.seeds.size() ||
      cell.seeds.empty()) {
    throw std::invalid_argument("a cell has not as many values as seeds");
  }
  return cell;
}

Curve curve_of(const Json& json) {
  Curve curve;
  curve.metric = json.at("metric");
  curve.version = json.at("version");
  curve.stream_layout = json.at("stream_layout");
  curve.scenario = json.at("scenario");
  curve.axes = json.at("axes").get<std::vector<std::string>>();
  for (const Json& cell : json.at("cells")) curve.cells.push_back(cell_of(cell));
  return curve;
}

}  // namespace

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
    if (outcome.end != SweepEnd::kDone) return {std::move(outcome), std::nullopt};
    Journal journal;
    journal.read(folder.path() + "/journal", sweep_hash(plan), version_text());
    return curve_of(plan, journal, std::move(outcome));
  } catch (const std::system_error& error) {
    return {trouble(SweepEnd::kFileTrouble, error.what()), std::nullopt};
  }
}

double tail_of(std::size_t cells) { return kFamilyAlarm / static_cast<double>(cells); }

namespace {

// The cell in which a loss is hardest to see: `weight` of its spread is largest.
template <class Weight>
const CurveCell& hardest(const Curve& curve, const Weight& weight) {
  return *std::ranges::max_element(curve.cells, {}, [&](const CurveCell& cell) {
    return standard_deviation(cell.values) * weight(static_cast<double>(cell.values.size()));
  });
}

}  // namespace

double detectable_loss(const Curve& curve) {
  const CurveCell& cell = hardest(curve, [](double count) { return 1 / std::sqrt(count); });
  return detectable_loss(standard_deviation(cell.values), cell.values.size(), tail_of(curve.cells.size()),
                         kSmallestLoss);
}

std::size_t seeds_needed(const Curve& curve) {
  const CurveCell& cell = hardest(curve, [](double) { return 1.0; });
  return counts_needed(standard_deviation(cell.values), tail_of(curve.cells.size()), kSmallestLoss, kGuardedLoss);
}

std::string to_json(const Curve& curve) {
  Json cells = Json::array();
  for (const CurveCell& cell : curve.cells) cells.push_back(json_of(cell));
  Json json = {{"kind", "atoll baseline"},
               {"format", kBaselineFormat},
               {"metric", curve.metric},
               {"version", curve.version},
               {"stream_layout", curve.stream_layout},
               {"scenario", curve.scenario},
               {"axes", curve.axes},
               {"detectable_loss", detectable_loss(curve)},
               {"cells", cells}};
  json["checksum"] = checksum_of(json);
  return json.dump(1) + "\n";
}

ReadCurve read_curve(const std::string& path) {
  const auto refused = [&](const std::string& what, const char* hint) {
    return ReadCurve{std::nullopt, fmt::format("{}: error: {}\n  hint: {}", path, what, hint)};
  };
  std::ifstream file(path, std::ios::binary);
  if (!file) return refused("cannot be read", "atoll baseline writes one");
  try {
    Json json = Json::parse(file);
    if (json.value("kind", "") != "atoll baseline") return refused("is no baseline", "atoll baseline writes one");
    if (json.at("format") != kBaselineFormat) {
      return refused(fmt::format("format: must be {}; got {}", kBaselineFormat, json.at("format").dump()),
                     "record it again with atoll baseline");
    }
    const std::string told = json.at("checksum");
    json.erase("checksum");
    if (told != checksum_of(json)) {
      return refused("is damaged: its checksum does not hold", "record it again with atoll baseline");
    }
    return {curve_of(json), ""};
  } catch (const std::exception&) {
    return refused("is damaged: it cannot be read as a baseline", "record it again with atoll baseline");
  }
}

}  // namespace sim::experiment

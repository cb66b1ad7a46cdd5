// sim/experiment/comparison_format.cpp: see comparison_format.h.
#include "sim/experiment/comparison_format.h"

#include <fmt/format.h>

#include <cmath>

#include "sim/base/cell_text.h"

namespace sim::experiment {
namespace {

nlohmann::ordered_json json_of(const std::optional<Estimate>& estimate) {
  if (!estimate) return nullptr;
  nlohmann::ordered_json json = {{"mean", estimate->mean}, {"half_width_95", nullptr}};
  if (estimate->half_width) json["half_width_95"] = *estimate->half_width;
  return json;
}

// JSON has no infinity.
nlohmann::ordered_json median_json(const std::optional<double>& median) {
  if (!median) return nullptr;
  if (std::isinf(*median)) return "not reached";
  return *median;
}

nlohmann::ordered_json row_json(const Comparison& comparison, const ComparisonRow& row) {
  nlohmann::ordered_json arms = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    const ComparisonCell& cell = row.cells[i];
    arms.push_back({{"arm", comparison.arms[i]},
                    {"clock", comparison.clocks[i]},
                    {"reached", cell.reached},
                    {"value", json_of(cell.value)},
                    {"difference", json_of(cell.difference)},
                    {"median", median_json(cell.median)},
                    {"saturated", cell.saturated},
                    {"best", cell.best}});
  }
  return {{"key", key_of(row.measure)},
          {"title", row.measure.title},
          {"question", row.measure.group},
          {"arms", arms}};
}

std::string csv_number(const std::optional<double>& value) {
  return value ? fmt::format("{}", *value) : "";
}

std::string csv_estimate(const std::optional<Estimate>& estimate) {
  if (!estimate) return ",";
  return csv_number(estimate->mean) + "," + csv_number(estimate->half_width);
}

}  // namespace

std::string as_csv(const Comparison& comparison) {
  std::string text =
      "key,title,arm,clock,seeds,reached,mean,half_width_95,difference_mean,"
      "difference_half_width_95,median,saturated,best\n";
  for (const ComparisonRow& row : comparison.rows) {
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      const ComparisonCell& cell = row.cells[i];
      text += fmt::format("{},{},{},{},{},{},{},{},{},{},{}\n", key_of(row.measure),
                          base::csv_cell(row.measure.title), base::csv_cell(comparison.arms[i]),
                          base::csv_cell(comparison.clocks[i]), comparison.seeds.size(), cell.reached,
                          csv_estimate(cell.value), csv_estimate(cell.difference),
                          csv_number(cell.median), cell.saturated ? 1 : 0, cell.best ? 1 : 0);
    }
  }
  return text;
}

std::string as_json(const Comparison& comparison, const std::vector<Verdict>& verdicts,
                    const std::vector<std::string>& unchecked,
                    const std::vector<FinishedRun>& runs) {
  nlohmann::ordered_json json = {{"format", 1},
                                 {"scenario", comparison.scenario},
                                 {"version", comparison.version},
                                 {"isa_level", comparison.isa_level},
                                 {"reference", comparison.arms[comparison.reference]},
                                 {"arms", comparison.arms},
                                 {"seeds", comparison.seeds},
                                 {"marks", comparison.marks},
                                 {"energy", comparison.power},
                                 {"measures", nlohmann::ordered_json::array()}};
  for (const ComparisonRow& row : comparison.rows) {
    json["measures"].push_back(row_json(comparison, row));
  }
  json["notes"] = comparison.notes;
  json["expectations"] = nlohmann::ordered_json::array();
  for (const Verdict& verdict : verdicts) {
    json["expectations"].push_back({{"key", verdict.key},
                                    {"wanted", verdict.wanted},
                                    {"got", verdict.got},
                                    {"met", verdict.met}});
  }
  json["expectations_not_checked"] = unchecked;
  json["runs"] = nlohmann::ordered_json::array();
  for (const FinishedRun& run : runs) json["runs"].push_back(run.summary);
  return json.dump(2) + "\n";
}

}  // namespace sim::experiment

// sim/experiment/gate_file.cpp: see gate_file.h.
#include "sim/experiment/gate_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "sim/base/diagnostic.h"
#include "sim/base/random.h"
#include "sim/experiment/gate_power.h"

namespace sim::experiment {
namespace {

using Json = nlohmann::ordered_json;

std::string checksum_of(const Json& json) { return fmt::format("{:016x}", base::hash_name(0, json.dump())); }

Json json_of(const CurveCell& cell) {
  return {{"point", cell.point}, {"at", cell.at},         {"arm", cell.arm}, {"metric", cell.metric},
          {"seeds", cell.seeds}, {"values", cell.values}, {"trace_hashes", cell.trace_hashes}};
}

// `only_metric`: of a curve of format 1, whose cells do not name it.
CurveCell cell_of(const Json& json, const std::string& only_metric) {
  CurveCell cell;
  cell.point = json.at("point");
  cell.at = json.at("at").get<std::vector<std::string>>();
  cell.arm = json.at("arm");
  cell.metric = only_metric.empty() ? json.at("metric").get<std::string>() : only_metric;
  cell.seeds = json.at("seeds").get<std::vector<std::uint64_t>>();
  cell.values = json.at("values").get<std::vector<double>>();
  cell.trace_hashes = json.at("trace_hashes").get<std::vector<std::string>>();
  if (cell.values.size() != cell.seeds.size() || cell.trace_hashes.size() != cell.seeds.size() || cell.seeds.size() < 2) {
    throw std::invalid_argument("a cell has not as many values as seeds, or fewer than two");
  }
  return cell;
}

Curve curve_of(const Json& json) {
  Curve curve;
  const std::string only_metric = json.at("format") == 1 ? json.at("metric").get<std::string>() : "";
  curve.metrics = only_metric.empty() ? json.at("metrics").get<std::vector<std::string>>()
                                      : std::vector{only_metric};
  curve.version = json.at("version");
  curve.stream_layout = json.at("stream_layout");
  curve.scenario = json.at("scenario");
  curve.axes = json.at("axes").get<std::vector<std::string>>();
  for (const Json& cell : json.at("cells")) curve.cells.push_back(cell_of(cell, only_metric));
  if (curve.cells.empty()) throw std::invalid_argument("a curve without cells");
  return curve;
}

// Of the byte that a parser stopped at, counted from 1.
base::Position position_of(const std::string& text, std::size_t byte) {
  const std::string before = text.substr(0, byte == 0 ? 0 : byte - 1);
  const std::size_t feed = before.rfind('\n');
  return {1 + static_cast<int>(std::ranges::count(before, '\n')),
          1 + static_cast<int>(feed == std::string::npos ? before.size() : before.size() - feed - 1)};
}

constexpr const char* kWrite = "atoll baseline writes one";
constexpr const char* kAgain = "record it again with atoll baseline";

ReadCurve refused(const std::string& path, base::Position position, const char* key, const std::string& message,
                  const char* hint) {
  return {std::nullopt, base::format(base::Diagnostic{path, position, key, message, hint})};
}

}  // namespace

std::string to_json(const Curve& curve) {
  Json cells = Json::array();
  for (const CurveCell& cell : curve.cells) cells.push_back(json_of(cell));
  Json json = {{"kind", "atoll baseline"},
               {"format", kBaselineFormat},
               {"metrics", curve.metrics},
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
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  if (file && file.peek() != std::ifstream::traits_type::eof()) content << file.rdbuf();
  if (!file.is_open() || file.bad()) return refused(path, {}, "", "cannot be read", kWrite);
  const std::string text = content.str();
  try {
    Json json = Json::parse(text);
    if (!json.is_object() || json.value("kind", "") != "atoll baseline") {
      return refused(path, {}, "", "is no baseline", kWrite);
    }
    if (json.at("format") != kBaselineFormat && json.at("format") != kBaselineFormat - 1) {
      const std::string got = json.at("format").dump();
      return refused(path, {}, "format",
                     fmt::format("must be {} or {}; got {}", kBaselineFormat - 1, kBaselineFormat, got), kAgain);
    }
    const std::string told = json.at("checksum");
    json.erase("checksum");
    if (told != checksum_of(json)) return refused(path, {}, "", "is damaged: its checksum does not hold", kAgain);
    return {curve_of(json), ""};
  } catch (const Json::parse_error& error) {
    return refused(path, position_of(text, error.byte), "", "is damaged: no JSON from here on", kAgain);
  } catch (const std::exception&) {
    return refused(path, {}, "", "is damaged: it holds no curve", kAgain);
  }
}

}  // namespace sim::experiment

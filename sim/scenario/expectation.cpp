// sim/scenario/expectation.cpp: reads [expect].
#include "sim/scenario/expectation.h"

#include <fmt/format.h>

#include <algorithm>

namespace sim::scenario {

using base::Problems;
using base::Value;

namespace {

// First parts of the fields of summary.json that hold numbers.
const std::vector<std::string>& field_heads() {
  static const std::vector<std::string> heads = {
      "goodput", "uptime", "compute_utilization", "participation", "wan",      "steps",
      "tokens",  "loss",   "faults_met",          "energy_kwh",    "cost_usd", "marks",
      "duration_s", "chips", "activity_chip_seconds", "nominal", "proxy"};
  return heads;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

// The arm whose name starts `key`; the longest, since names may hold dots. "" for none.
std::string arm_in(const std::string& key, const Scenario& scenario) {
  std::string best;
  for (const Arm& arm : scenario.arms) {
    const std::string& name = arm.training.name;
    if (!name.empty() && key.starts_with(name + ".") && name.size() > best.size()) best = name;
  }
  return best;
}

void add_expectation(const std::string& key, const Value& value, const Scenario& scenario,
                     std::vector<Expectation>& result, Problems& problems) {
  const bool is_minimum = key.ends_with(".min");
  if (!is_minimum && !key.ends_with(".max")) {
    problems.add(value.place, "must end in .min or .max",
                 "write it like \"ARM.goodput.stepping.min\"");
    return;
  }
  const std::string arm = arm_in(key, scenario);
  if (arm.empty()) {
    std::vector<std::string> names;
    for (const Arm& known : scenario.arms) names.push_back(known.training.name);
    problems.add(value.place, "must start with the name of an arm", "arms here are " + joined(names));
    return;
  }
  const std::size_t begin = arm.size() + 1;
  const std::string field = key.size() - 4 > begin ? key.substr(begin, key.size() - 4 - begin) : "";
  const std::string head = field.substr(0, field.find('.'));
  if (std::find(field_heads().begin(), field_heads().end(), head) == field_heads().end()) {
    const std::string nearest = base::nearest_name(head, field_heads());
    problems.add(value.place, fmt::format("unknown field '{}'", field),
                 nearest.empty() ? "fields are " + joined(field_heads())
                                 : fmt::format("did you mean '{}'?", nearest));
    return;
  }
  if (const auto bound = base::read_real(value, {}, problems)) {
    result.push_back({arm, field, is_minimum, *bound, value.place.position.line,
                      value.place.position.column});
  }
}

// Keys may be quoted whole or written dotted, which TOML reads as tables in tables.
void collect(const Value& table, const std::string& prefix, const Scenario& scenario,
             std::vector<Expectation>& result, Problems& problems) {
  for (const base::Entry& entry : table.entries) {
    const std::string key = prefix.empty() ? entry.key : prefix + "." + entry.key;
    if (entry.value.kind == Value::Kind::kTable) {
      collect(entry.value, key, scenario, result, problems);
    } else {
      add_expectation(key, entry.value, scenario, result, problems);
    }
  }
}

}  // namespace

std::vector<Expectation> bind_expectations(const Value& root, const Scenario& scenario,
                                           Problems& problems) {
  std::vector<Expectation> result;
  const Value* const table = root.find("expect");
  if (table == nullptr) return result;
  if (table->kind != Value::Kind::kTable) {
    problems.add(table->place, "must be a table; got " + base::to_toml(*table));
    return result;
  }
  collect(*table, "", scenario, result, problems);
  return result;
}

std::string expectation_key(const Expectation& expectation) {
  return fmt::format("{}.{}.{}", expectation.arm, expectation.field,
                     expectation.is_minimum ? "min" : "max");
}

}  // namespace sim::scenario

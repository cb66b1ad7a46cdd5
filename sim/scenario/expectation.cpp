// sim/scenario/expectation.cpp: reads [expect].
#include "sim/scenario/expectation.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/report/summary.h"

namespace sim::scenario {

using base::Problems;
using base::Value;

namespace {

void add_fields(const nlohmann::ordered_json& json, const std::string& prefix,
                std::vector<std::string>& fields) {
  for (const auto& [key, value] : json.items()) {
    const std::string path = prefix + key;
    if (value.is_object()) add_fields(value, path + ".", fields);
    if (value.is_number() || value.is_null()) fields.push_back(path);
  }
}

// The paths in summary.json at which a number can stand, read off a summary of a run that has
// everything a run can have.
const std::vector<std::string>& known_fields() {
  static const std::vector<std::string> fields = [] {
    report::Summary summary{};
    for (int mark = 0; mark < tape::kMarkKindCount; ++mark) {
      summary.marks.push_back({std::string(report::mark_name(static_cast<tape::MarkKind>(mark))), {},
                               {}, {}});
    }
    summary.proxy.emplace();
    std::vector<std::string> result;
    add_fields(nlohmann::ordered_json::parse(report::to_json(summary)), "", result);
    return result;
  }();
  return fields;
}

std::string head_of(const std::string& field) { return field.substr(0, field.find('.')); }

// A field cut short ("goodput.step") is nearer to its whole than spelling says.
std::string nearest_field(const std::string& field) {
  for (const std::string& known : known_fields()) {
    if (!field.empty() && known.starts_with(field)) return known;
  }
  return base::nearest_name(field, known_fields());
}

// Fields beside the one that was written, if its first part is known; else all first parts.
std::string list_near(const std::string& field) {
  std::string beside, heads, last_head;
  for (const std::string& known : known_fields()) {
    if (head_of(known) == head_of(field)) beside += " " + known;
    if (head_of(known) != last_head) heads += " " + head_of(known);
    last_head = head_of(known);
  }
  return beside.empty() ? "fields start with" + heads : "fields here are" + beside;
}

bool is_known(const std::string& field) {
  return std::find(known_fields().begin(), known_fields().end(), field) != known_fields().end();
}

std::string hint_for(const std::string& field) {
  const std::string nearest = nearest_field(field);
  return nearest.empty() ? list_near(field) : fmt::format("did you mean '{}'?", nearest);
}

// ARM of ARM.FIELD where no arm has that name: what stands before a known field, else before the
// first dot.
std::string unknown_arm_in(const std::string& path) {
  for (const std::string& known : known_fields()) {
    if (path.ends_with("." + known)) return path.substr(0, path.size() - known.size() - 1);
  }
  return head_of(path);
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
    const std::string written = unknown_arm_in(key.substr(0, key.size() - 4));
    const std::string nearest = base::nearest_name(written, names);
    problems.add(value.place, fmt::format("must start with the name of an arm; got '{}'", written),
                 nearest.empty() ? "arms here are " + joined(names)
                                 : fmt::format("did you mean '{}'?", nearest));
    return;
  }
  const std::size_t begin = arm.size() + 1;
  const std::string field = key.size() - 4 > begin ? key.substr(begin, key.size() - 4 - begin) : "";
  if (!is_known(field)) {
    problems.add(value.place, fmt::format("unknown field '{}'", field), hint_for(field));
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
  std::stable_sort(result.begin(), result.end(), [](const Expectation& a, const Expectation& b) {
    return std::pair(a.line, a.column) < std::pair(b.line, b.column);
  });
  return result;
}

bool is_summary_number(const std::string& field) {
  return is_known(field) && field != "format" && field != "seed";  // these say which run it is
}

std::string summary_number_hint(const std::string& field) { return hint_for(field); }

std::string expectation_key(const Expectation& expectation) {
  return fmt::format("{}.{}.{}", expectation.arm, expectation.field,
                     expectation.is_minimum ? "min" : "max");
}

}  // namespace sim::scenario

// sim/scenario/resolve.cpp: writes a scenario with every value spelt out.
//
// The writer is driven by the same records that read. Arms after the first are written whole, so
// that nothing depends on what they would inherit.
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "sim/base/random.h"
#include "sim/chaos/fault_schema.h"
#include "sim/engine/network_schema.h"
#include "sim/methods/fleet_schema.h"
#include "sim/methods/training_schema.h"
#include "sim/scenario/expectation.h"
#include "sim/scenario/load.h"
#include "sim/scenario/scenario_schema.h"
#include "sim/trainer/learning_schema.h"

namespace sim::scenario {

namespace {

using base::Value;

constexpr std::string_view kExpectHeader = "\n[expect]\n";

// The keys of a table, one a line.
std::string lines_of(const Value& table) {
  std::string text;
  for (const base::Entry& entry : table.entries) {
    text += base::key_to_toml(entry.key) + " = " + base::to_toml(entry.value) + "\n";
  }
  return text;
}

template <class T>
std::string list_of(const std::string& header, const base::SchemaOf<T>& schema,
                    const std::vector<T>& elements) {
  std::string text;
  for (const T& element : elements) {
    text += fmt::format("\n[[{}]]\n{}", header, lines_of(base::write(schema, &element)));
  }
  return text;
}

std::string failures_of(const Arm& arm) {
  return list_of("failure", chaos::failure_schema(), arm.failures);
}

std::string faults_of(const Arm& arm) { return list_of("fault", chaos::fault_schema(), arm.faults); }

std::string first_arm(const Arm& arm) {
  return fmt::format("\n[learning]\n{}\n[training]\n{}",
                     lines_of(base::write(trainer::learning_schema(), &arm.learning)),
                     lines_of(base::write(methods::training_schema(), &arm.training))) +
         failures_of(arm) + faults_of(arm);
}

template <class T>
std::string inline_list(const base::SchemaOf<T>& schema, const std::vector<T>& elements) {
  Value list;
  list.kind = Value::Kind::kList;
  for (const T& element : elements) list.items.push_back(base::write(schema, &element));
  return base::to_toml(list);
}

std::string further_arm(const Arm& arm, const Arm& first) {
  std::string text = fmt::format("\n[[arm]]\nname = {}\n", base::to_toml(Value::of(arm.training.name)));
  if (failures_of(arm) != failures_of(first)) {
    text += "failure = " + inline_list(chaos::failure_schema(), arm.failures) + "\n";
  }
  if (faults_of(arm) != faults_of(first)) {
    text += "fault = " + inline_list(chaos::fault_schema(), arm.faults) + "\n";
  }
  Value training = base::write(methods::training_schema(), &arm.training);
  training.remove("name");
  return text + fmt::format("[arm.learning]\n{}[arm.training]\n{}",
                            lines_of(base::write(trainer::learning_schema(), &arm.learning)),
                            lines_of(training));
}

std::string head(const Scenario& scenario) {
  const Value table = base::write(head_schema(), &scenario);
  std::string text, sections;
  for (const base::Entry& entry : table.entries) {
    if (entry.value.kind == Value::Kind::kTable) {
      sections += fmt::format("\n[{}]\n{}", entry.key, lines_of(entry.value));
    } else {
      text += fmt::format("{} = {}\n", entry.key, base::to_toml(entry.value));
    }
  }
  return text + sections;
}

std::string expectations(const Scenario& scenario, const std::string* only_arm) {
  std::string text;
  for (const Expectation& expectation : scenario.expectations) {
    if (only_arm != nullptr && expectation.arm != *only_arm) continue;
    text += fmt::format("{} = {}\n", base::to_toml(Value::of(expectation_key(expectation))),
                        base::to_toml(Value::of(expectation.bound)));
  }
  return text.empty() ? text : std::string(kExpectHeader) + text;
}

}  // namespace

std::string resolved_text(const Scenario& scenario, const std::string* only_arm) {
  std::size_t first = 0;
  if (only_arm != nullptr) {
    while (first < scenario.arms.size() && scenario.arms[first].training.name != *only_arm) ++first;
  }
  if (first >= scenario.arms.size()) throw std::invalid_argument("resolved text: no such arm");
  std::string text = head(scenario);
  text += list_of("region", engine::region_schema(), scenario.network.regions);
  text += list_of("link", engine::link_schema(), scenario.network.links);
  text += list_of("island", methods::island_schema(), scenario.islands);
  text += first_arm(scenario.arms[first]);
  for (std::size_t i = 1; only_arm == nullptr && i < scenario.arms.size(); ++i) {
    text += further_arm(scenario.arms[i], scenario.arms[0]);
  }
  return text + expectations(scenario, only_arm);
}

std::string resolved_text(const Scenario& scenario) { return resolved_text(scenario, nullptr); }

// No text value holds a line feed of its own: the writer escapes them.
std::string_view identity_in(std::string_view resolved) {
  return resolved.substr(0, resolved.rfind(kExpectHeader));
}

std::uint64_t scenario_hash(const Scenario& scenario) {
  return base::hash_name(0, identity_in(resolved_text(scenario)));
}

std::uint64_t set_hash(const Scenario& scenario) {
  Scenario seedless = scenario;
  seedless.seed = 0;
  return scenario_hash(seedless);
}

std::uint64_t run_hash(const Scenario& scenario, const std::string& arm) {
  return base::hash_name(0, identity_in(resolved_text(scenario, &arm)));
}

}  // namespace sim::scenario

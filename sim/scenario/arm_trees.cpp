// sim/scenario/arm_trees.cpp: merges the file, its arms and --set.
#include "sim/scenario/arm_trees.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/methods/training_schema.h"
#include "sim/trainer/learning_schema.h"

namespace sim::scenario {

using base::Problems;
using base::Value;

namespace {

const std::vector<std::string>& part_names() {
  static const std::vector<std::string> names = {"training", "learning", "failure", "fault"};
  return names;
}

bool is_part(const std::string& name) {
  return std::find(part_names().begin(), part_names().end(), name) != part_names().end();
}

const base::Schema* schema_of(const std::string& part) {
  if (part == "training") return &methods::training_schema();
  return part == "learning" ? &trainer::learning_schema() : nullptr;
}

// Lays one part of an arm on what it has.
void lay(Value& arm, const std::string& part, const Value& over, const base::Place& key_place) {
  const Value* const below = arm.find(part);
  const base::Schema* const schema = schema_of(part);
  const bool both = below != nullptr && schema != nullptr;
  arm.set(part, both ? base::merged(*schema, *below, over) : over, key_place);
}

Value first_arm(const Value& root) {
  Value arm;
  arm.place = root.place;
  for (const std::string& part : part_names()) {
    if (const base::Entry* const entry = root.entry(part)) lay(arm, part, entry->value, entry->key_place);
  }
  return arm;
}

// `name` and `use` of an [[arm]] are short for training.name and training.use.
Value derived_arm(const Value& first, const Value& declared, Problems& problems) {
  Value arm = first;
  arm.place = declared.place;
  if (declared.kind != Value::Kind::kTable) {
    problems.add(declared.place, "must be a table; got " + base::to_toml(declared));
    return arm;
  }
  if (declared.find("name") == nullptr) {
    base::Place place = declared.place;
    place.path += ".name";
    problems.add(place, "is missing", "each arm has a name of its own");
  }
  for (const base::Entry& entry : declared.entries) {
    if (is_part(entry.key)) lay(arm, entry.key, entry.value, entry.key_place);
  }
  for (const base::Entry& entry : declared.entries) {
    if (is_part(entry.key)) continue;
    if (entry.key == "name" || entry.key == "use") {
      if (arm.find("training") == nullptr) arm.set("training", Value{}, declared.place);
      Value* const training = arm.find("training");
      if (training->kind == Value::Kind::kTable) training->set(entry.key, entry.value, entry.key_place);
      continue;
    }
    std::vector<std::string> names = part_names();
    names.insert(names.end(), {"name", "use"});
    const std::string nearest = base::nearest_name(entry.key, names);
    problems.add(entry.key_place, "unknown key",
                 !nearest.empty()
                     ? fmt::format("did you mean '{}'?", nearest)
                     : base::knows(methods::training_schema(), entry.key)
                           ? fmt::format("write training = {{ {} = ... }}", entry.key)
                           : "keys here are name training learning failure fault use");
  }
  return arm;
}

// The change from path part `first` on, onto one arm.
bool change_arm(const Override& change, std::size_t first, const std::string& prefix, Value& arm,
                Problems& problems) {
  const std::string& part = change.path[first];
  const base::Schema* const schema = schema_of(part);
  if (schema == nullptr || first + 1 == change.path.size()) {
    return apply(change, first, prefix, arm, problems);
  }
  Value over;
  if (!apply(change, first, prefix, over, problems)) return false;
  const base::Place before = arm.find(part) != nullptr ? arm.find(part)->place : arm.place;
  lay(arm, part, *over.find(part), before);
  arm.find(part)->place = before;
  return true;
}

// The change names a key that this arm's method (model, task) does not have but another one does.
bool is_of_another_kind(const Override& change, const Value& arm) {
  const base::Schema* const schema = schema_of(change.path[0]);
  const Value* const table = arm.find(change.path[0]);
  if (schema == nullptr || change.path.size() < 2 || table == nullptr) return false;
  return base::knows(*schema, change.path[1]) &&
         base::find_record(*schema, *table, change.path[1]) == nullptr;
}

void change_all(const Override& change, std::vector<Value>& arms, Problems& problems) {
  Problems failed;
  bool done = false;
  for (Value& arm : arms) {
    if (is_of_another_kind(change, arm)) continue;
    done = change_arm(change, 0, "", arm, failed) || done;
  }
  if (done) return;
  // Nobody has it: let the first arm say why.
  if (failed.list().empty()) change_arm(change, 0, "", arms[0], failed);
  for (const base::Diagnostic& diagnostic : failed.list()) problems.list().push_back(diagnostic);
}

void change_one(const Override& change, std::vector<Value>& arms, Problems& problems) {
  std::string names;
  for (Value& arm : arms) {
    const std::string name = arm_name(arm);
    names += (names.empty() ? "" : " ") + name;
    if (change.path.size() < 3 || name != change.path[1]) continue;
    if (is_part(change.path[2])) {
      change_arm(change, 2, "arm." + name, arm, problems);
      return;
    }
    Override full = change;  // arm.NAME.quorum is short for arm.NAME.training.quorum
    full.path.insert(full.path.begin() + 2, "training");
    change_arm(full, 2, "arm." + name, arm, problems);
    return;
  }
  problems.add({change.shown, {}, "arm"},
               change.path.size() < 3
                   ? std::string("must be arm.NAME.KEY=VALUE")
                   : fmt::format("no arm is named \"{}\"", change.path[1]),
               "arms here are " + names);
}

}  // namespace

bool acts_on_arms(const Override& change) {
  return change.path[0] == "arm" || is_part(change.path[0]);
}

std::string arm_name(const Value& arm) {
  const Value* const training = arm.find("training");
  if (training == nullptr) return {};
  for (const char* key : {"name", "method"}) {
    const Value* const value = training->find(key);
    if (value != nullptr && value->kind == Value::Kind::kText && !value->text.empty()) {
      return value->text;
    }
  }
  return {};
}

std::vector<Value> arm_trees(const Value& root, const std::vector<Override>& changes,
                             Problems& problems) {
  std::vector<Value> arms = {first_arm(root)};
  if (const Value* const declared = root.find("arm")) {
    if (declared->kind == Value::Kind::kList) {
      for (const Value& item : declared->items) arms.push_back(derived_arm(arms[0], item, problems));
    } else {
      problems.add(declared->place, "must be a list of tables", "write [[arm]]");
    }
  }
  for (const Override& change : changes) {
    if (!acts_on_arms(change)) continue;
    if (change.path[0] == "arm") {
      change_one(change, arms, problems);
    } else {
      change_all(change, arms, problems);
    }
  }
  return arms;
}

}  // namespace sim::scenario

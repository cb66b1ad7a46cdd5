// sim/scenario/bind.cpp: from a tree of values to a Scenario.
#include "sim/scenario/bind.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "sim/chaos/fault_schema.h"
#include "sim/engine/network_schema.h"
#include "sim/methods/diloco.h"
#include "sim/methods/fleet_schema.h"
#include "sim/methods/training_schema.h"
#include "sim/scenario/arm_trees.h"
#include "sim/scenario/data_file.h"
#include "sim/scenario/expectation.h"
#include "sim/scenario/fault_file.h"
#include "sim/scenario/scenario_schema.h"
#include "sim/scenario/sweep_schema.h"
#include "sim/trainer/learning_schema.h"

namespace sim::scenario {

using base::Problems;
using base::Value;

namespace {

// The elements of a list of tables; adds a problem when it is something else.
std::vector<Value> elements(const Value& tree, const std::string& name, Problems& problems) {
  const Value* const list = tree.find(name);
  if (list == nullptr) return {};
  if (list->kind == Value::Kind::kList) return list->items;
  problems.add(list->place, "must be a list of tables; got " + base::to_toml(*list),
               fmt::format("write [[{}]]", name));
  return {};
}

template <class T>
std::vector<T> bind_list(const Value& tree, const std::string& name,
                         const base::SchemaOf<T>& schema, Problems& problems) {
  std::vector<T> result;
  for (const Value& item : elements(tree, name, problems)) {
    T element{};
    base::bind(schema, item, &element, problems);
    result.push_back(std::move(element));
  }
  return result;
}

template <class T>
void bind_table(const Value& arm, const std::string& name, const base::SchemaOf<T>& schema,
                T& target, Problems& problems) {
  Value absent;
  absent.place = arm.place;
  absent.place.path = name;
  const Value* const table = arm.find(name);
  base::bind(schema, table != nullptr ? *table : absent, &target, problems);
}

// { file = "faults.csv" }: what an earlier run met.
void add_recorded(const Value& item, const std::string& folder, Bound& bound, Arm& arm,
                  Problems& problems) {
  const auto name = base::read_text(*item.find("file"), problems);
  for (const base::Entry& entry : item.entries) {
    if (entry.key != "file") problems.add(entry.key_place, "stands beside file", "remove it");
  }
  if (!name) return;
  const std::string path = name->starts_with('/') ? *name : folder + *name;
  std::ifstream stream(path);
  if (!stream) {
    problems.add(item.find("file")->place, fmt::format("cannot be read; got \"{}\"", *name),
                 "files are looked for beside the scenario");
    bound.file_missing = true;
    return;
  }
  std::ostringstream text;
  text << stream.rdbuf();
  const auto faults = parse_faults(text.str(), path, problems);
  arm.faults.insert(arm.faults.end(), faults.begin(), faults.end());
}

void bind_faults(const Value& tree, const std::string& folder, Bound& bound, Arm& arm,
                 Problems& problems) {
  for (const Value& item : elements(tree, "fault", problems)) {
    if (item.find("file") != nullptr) {
      add_recorded(item, folder, bound, arm, problems);
      continue;
    }
    chaos::FaultOptions fault{};
    base::bind(chaos::fault_schema(), item, &fault, problems);
    arm.faults.push_back(std::move(fault));
  }
}

// Slots are cut into as many shards as the whole fleet has islands, whatever the arm uses of it.
void count_shards(const std::vector<methods::IslandOptions>& islands, optim::ShardOptions& shards) {
  if (shards.kind == optim::ShardKind::kIid || shards.count > 0) return;
  for (const methods::IslandOptions& group : islands) {
    shards.count += static_cast<std::size_t>(std::max<std::int64_t>(0, group.count));
  }
  shards.count = std::max<std::size_t>(1, shards.count);
}

void bind_arm(const Value& tree, const std::string& folder, DataFiles& files, Bound& bound,
              Problems& problems) {
  Arm arm{};
  bind_table(tree, "training", methods::training_schema(), arm.training, problems);
  methods::complete(arm.training);
  if (arm.training.name.empty()) arm.training.name = arm_name(tree);
  bind_table(tree, "learning", trainer::learning_schema(), arm.learning, problems);
  files.load(tree, arm.learning, problems);
  count_shards(bound.scenario.islands, arm.learning.task.shards);
  trainer::complete(arm.learning);
  arm.failures = bind_list(tree, "failure", chaos::failure_schema(), problems);
  for (chaos::FailureOptions& failure : arm.failures) {
    if (failure.name.empty()) failure.name = chaos::target_kind_name(failure.target);
  }
  bind_faults(tree, folder, bound, arm, problems);
  bound.scenario.arms.push_back(std::move(arm));
}

}  // namespace

Bound bind_scenario(Value root, const std::vector<Override>& changes,
                    std::optional<std::uint64_t> seed, const std::string& folder,
                    Problems& problems) {
  Bound bound{};
  for (const Override& change : changes) {
    if (!acts_on_arms(change)) apply(change, 0, "", root, problems);
  }
  // The command line's seed also stands in for one that the file lacks.
  if (seed && root.find("seed") == nullptr) root.set("seed", Value::of(0), root.place);
  Scenario& scenario = bound.scenario;
  base::bind(head_schema(), root, &scenario, problems, body_names());
  if (seed) scenario.seed = *seed;
  scenario.network.regions = bind_list(root, "region", engine::region_schema(), problems);
  scenario.network.links = bind_list(root, "link", engine::link_schema(), problems);
  scenario.islands = bind_list(root, "island", methods::island_schema(), problems);
  bound.arms = arm_trees(root, changes, problems);
  DataFiles files(folder);
  for (const Value& arm : bound.arms) bind_arm(arm, folder, files, bound, problems);
  bound.file_missing = bound.file_missing || files.missing();
  scenario.expectations = bind_expectations(root, scenario, problems);
  if (const Value* const sweep = root.find("sweep")) {
    SweepOptions unused{};  // a sweep's mistakes are told by every verb, its values by `atoll sweep`
    base::bind(sweep_schema(), *sweep, &unused, problems);
  }
  bound.root = std::move(root);
  return bound;
}

base::Place place_of(const Value& tree, const std::vector<std::string>& keys) {
  const Value* here = &tree;
  base::Place place = tree.place;
  bool found = true;
  for (const std::string& key : keys) {
    const bool is_index = here->kind == Value::Kind::kList;
    const Value* next = nullptr;
    if (found && is_index) {
      const auto index = static_cast<std::size_t>(std::stoul(key));
      next = index < here->items.size() ? &here->items[index] : nullptr;
    } else if (found) {
      next = here->find(key);
    }
    if (next != nullptr) {
      here = next;
      place = next->place;
      continue;
    }
    found = false;
    place.path += (place.path.empty() ? "" : ".") + key;
  }
  return place;
}

}  // namespace sim::scenario

// sim/experiment/sweep_base.cpp: see sweep_base.h.
#include "sim/experiment/sweep_base.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "sim/base/random.h"
#include "sim/chaos/fault_schema.h"
#include "sim/scenario/fault_file.h"
#include "sim/scenario/override.h"
#include "sim/scenario/parse.h"

namespace sim::experiment {
namespace {

using base::Value;

bool is_list_of_tables(const Value& value) {
  return value.kind == Value::Kind::kList && !value.items.empty() &&
         std::ranges::all_of(value.items, [](const Value& item) { return item.kind == Value::Kind::kTable; });
}

// Plain keys first, since those behind a section's head would belong to it.
std::string text_of(const Value& root) {
  std::string keys, sections;
  for (const base::Entry& entry : root.entries) {
    const std::string key = base::key_to_toml(entry.key);
    if (entry.value.kind == Value::Kind::kTable) {
      sections += fmt::format("\n[{}]\n{}", key, lines_of(entry.value));
    } else if (is_list_of_tables(entry.value)) {
      for (const Value& item : entry.value.items) sections += fmt::format("\n[[{}]]\n{}", key, lines_of(item));
    } else {
      keys += fmt::format("{} = {}\n", key, base::to_toml(entry.value));
    }
  }
  return keys + sections;
}

bool counts_faults(const std::string& set) {
  base::Problems ignored;
  const auto change = scenario::parse_override(set, ignored);
  return change && std::ranges::count(change->path, "fault") > 0;
}

bool counts_faults(const SweepPlan& plan) {
  const auto by_axis = [](const Axis& axis) { return counts_faults(axis.key + "=0"); };
  return std::ranges::any_of(plan.axes, by_axis) ||
         std::ranges::any_of(plan.sets, [](const std::string& set) { return counts_faults(set); });
}

std::string content_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();  // it could be read when the base was loaded
  return text.str();
}

// Calls `body(list)` for the faults of the scenario and of each arm that has its own.
template <class Body>
void for_each_fault_list(Value& root, const Body& body) {
  const auto visit = [&](Value& tree) {
    Value* const faults = tree.find("fault");
    if (faults != nullptr && faults->kind == Value::Kind::kList) body(*faults);
  };
  visit(root);
  if (Value* const arms = root.find("arm")) std::ranges::for_each(arms->items, visit);
}

std::string path_of(const Value& file, const std::string& folder) {
  return file.text.starts_with('/') ? file.text : folder + file.text;
}

// { file = "faults.csv" } becomes the rows of that file.
void take_in_rows(Value& faults, const std::string& folder) {
  std::vector<Value> items;
  for (Value& item : faults.items) {
    const Value* const file = item.find("file");
    if (file == nullptr) {
      items.push_back(std::move(item));
      continue;
    }
    const std::string path = path_of(*file, folder);
    base::Problems ignored;
    for (const chaos::FaultOptions& fault : scenario::parse_faults(content_of(path), path, ignored)) {
      items.push_back(base::write(chaos::fault_schema(), &fault));
    }
  }
  faults.items = std::move(items);
}

std::string checksums_of(const Value& faults, const std::string& folder) {
  std::string text;
  for (const Value& item : faults.items) {
    if (const Value* const file = item.find("file")) {
      text += fmt::format("# {} = {:016x}\n", base::to_toml(*file),
                          base::hash_name(0, content_of(path_of(*file, folder))));
    }
  }
  return text;
}

Value tree_of(const std::string& text) {
  base::Problems ignored;  // it was read before
  Value root = scenario::parse_toml(text, "", ignored);
  root.remove("sweep");
  root.remove("expect");
  return root;
}

}  // namespace

std::string lines_of(const Value& table) {
  std::string text;
  for (const base::Entry& entry : table.entries) {
    text += base::key_to_toml(entry.key) + " = " + base::to_toml(entry.value) + "\n";
  }
  return text;
}

std::string base_text(const SweepPlan& plan) {
  Value root = tree_of(plan.text);
  const std::string& folder = plan.base.folder;
  std::string checksums;
  if (counts_faults(plan)) {
    for_each_fault_list(root, [&](const Value& faults) { checksums += checksums_of(faults, folder); });
  } else {
    for_each_fault_list(root, [&](Value& faults) { take_in_rows(faults, folder); });
  }
  return text_of(root) + checksums;
}

std::string text_of_arms(const std::string& text, const std::vector<std::string>& names) {
  Value root = tree_of(text);
  if (Value* const arms = root.find("arm")) {
    std::erase_if(arms->items, [&](const Value& arm) {
      const Value* const name = arm.find("name");
      return name == nullptr || std::ranges::count(names, name->text) == 0;
    });
  }
  return text_of(root);
}

}  // namespace sim::experiment

// sim/base/schema.cpp: reading tables by their records, writing them back, and laying one on another.
#include "sim/base/schema.h"

#include <fmt/format.h>

#include <algorithm>

namespace sim::base {

namespace {

// What `selector` stands at in `table`: as written if that is text, else its default, else "".
std::string selected(const Schema& schema, const Value& table, const std::string& selector) {
  const Value* const written = table.find(selector);
  if (written != nullptr) return written->kind == Value::Kind::kText ? written->text : "";
  for (const Record& record : schema.records) {
    if (record.name == selector && record.standard) return record.standard->text;
  }
  return {};
}

bool holds(const Schema& schema, const Value& table, const Condition& condition) {
  const auto& values = condition.values;
  return std::find(values.begin(), values.end(), selected(schema, table, condition.selector)) !=
         values.end();
}

bool holds(const Schema& schema, const Value& table, const Record& record) {
  return std::all_of(
      record.conditions.begin(), record.conditions.end(),
      [&](const Condition& condition) { return holds(schema, table, condition); });
}

std::vector<std::string> known_names(const Schema& schema, const Value& table,
                                     const std::vector<std::string>& also_known) {
  std::vector<std::string> names;
  for (const Record& record : schema.records) {
    if (holds(schema, table, record)) names.push_back(record.name);
  }
  names.insert(names.end(), also_known.begin(), also_known.end());
  return names;
}

std::string joined(const std::vector<std::string>& words, std::string_view separator) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += separator;
    text += word;
  }
  return text;
}

// The value of a selector is legal, so that a key of another condition can be told by it.
bool selector_is_legal(const Schema& schema, const Value& table, const std::string& selector) {
  const std::string value = selected(schema, table, selector);
  return std::any_of(schema.records.begin(), schema.records.end(), [&](const Record& record) {
    const std::string padded = " " + record.allowed + " ";
    return record.name == selector && padded.find(" " + value + " ") != std::string::npos;
  });
}

void report_unknown(const Entry& entry, const std::vector<std::string>& names, Problems& problems,
                    std::vector<std::string>& meant) {
  const std::string nearest = nearest_name(entry.key, names);
  if (nearest.empty()) {
    problems.add(entry.key_place, "unknown key", "keys here are " + joined(names, " "));
    return;
  }
  meant.push_back(nearest);
  problems.add(entry.key_place, "unknown key", fmt::format("did you mean '{}'?", nearest));
}

// A key that exists under another method or kind.
void report_elsewhere(const Schema& schema, const Value& table, const Entry& entry,
                      Problems& problems) {
  for (const Record& record : schema.records) {
    if (record.name != entry.key) continue;
    for (const Condition& condition : record.conditions) {
      if (holds(schema, table, condition)) continue;
      const std::string& selector = condition.selector;
      if (!selector_is_legal(schema, table, selector)) return;
      problems.add(entry.key_place,
                   fmt::format("is a key of {} \"{}\"; here {} is \"{}\"", selector,
                               joined(condition.values, "\" or \""), selector,
                               selected(schema, table, selector)),
                   "remove it");
      return;
    }
  }
}

Place place_in(const Value& table, const std::string& name) {
  Place place = table.place;
  if (!place.path.empty()) place.path += ".";
  place.path += name;
  return place;
}

}  // namespace

void Problems::add(const Place& place, std::string message, std::string hint) {
  list_.push_back({place.file, place.position, place.path, std::move(message), std::move(hint)});
}

void bind(const Schema& schema, const Value& table, void* object, Problems& problems,
          const std::vector<std::string>& also_known) {
  if (table.kind != Value::Kind::kTable) {
    problems.add(table.place, "must be a table; got " + to_toml(table));
    return;
  }
  const std::vector<std::string> names = known_names(schema, table, also_known);
  std::vector<std::string> meant;
  for (const Entry& entry : table.entries) {
    if (std::find(names.begin(), names.end(), entry.key) != names.end()) continue;
    if (knows(schema, entry.key)) {
      report_elsewhere(schema, table, entry, problems);
    } else {
      report_unknown(entry, names, problems, meant);
    }
  }
  for (const Record& record : schema.records) {
    const bool holding = holds(schema, table, record);
    const Value* const written = holding ? table.find(record.name) : nullptr;
    if (written != nullptr) {
      record.read(*written, object, problems);
    } else if (record.standard) {
      Value standard = *record.standard;
      standard.place = place_in(table, record.name);
      // A record that does not hold must not overwrite what one of the same name has read.
      if (holding || find_record(schema, table, record.name) == nullptr) {
        record.read(standard, object, problems);
      }
    } else if (holding && std::find(meant.begin(), meant.end(), record.name) == meant.end()) {
      problems.add(place_in(table, record.name), "is missing", record.help);
    }
  }
}

Value write(const Schema& schema, const void* object) {
  // Selectors hold always, so a first pass gives what the conditions ask for.
  Value selectors;
  for (const Record& record : schema.records) {
    if (record.conditions.empty()) selectors.set(record.name, record.write(object), {});
  }
  Value table;
  for (const Record& record : schema.records) {
    if (holds(schema, selectors, record)) table.set(record.name, record.write(object), {});
  }
  return table;
}

Value merged(const Schema& schema, const Value& base, const Value& over) {
  if (base.kind != Value::Kind::kTable || over.kind != Value::Kind::kTable) return over;
  Value result = base;
  result.place = over.place;
  for (const Entry& entry : over.entries) result.set(entry.key, entry.value, entry.key_place);
  for (const Entry& entry : over.entries) {
    const Value* const below = base.find(entry.key);
    const Record* const record = find_record(schema, result, entry.key);
    if (below != nullptr && record != nullptr && record->table != nullptr) {
      *result.find(entry.key) = merged(*record->table, *below, entry.value);
    }
  }
  for (const Entry& entry : base.entries) {
    const bool inherited = over.find(entry.key) == nullptr;
    if (inherited && knows(schema, entry.key) &&
        find_record(schema, result, entry.key) != find_record(schema, base, entry.key)) {
      result.remove(entry.key);
    }
  }
  return result;
}

const Record* find_record(const Schema& schema, const Value& table, std::string_view key) {
  for (const Record& record : schema.records) {
    if (record.name == key && holds(schema, table, record)) return &record;
  }
  return nullptr;
}

bool knows(const Schema& schema, std::string_view key) {
  return std::any_of(schema.records.begin(), schema.records.end(),
                     [key](const Record& record) { return record.name == key; });
}

}  // namespace sim::base

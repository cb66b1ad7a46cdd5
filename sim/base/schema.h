// sim/base/schema.h: one record per configuration key, bound to a member of an options struct.
//
// The records drive everything that knows a key: reading, range checks, --set, the printed schema,
// the reference table of scenarios/README.md and the writer of the resolved scenario. Defaults
// stand here and nowhere else.
//
// A record may hold under conditions only, on the values of other keys of the same table (its
// selectors, such as `method` or `kind`). Two records may share a name if their conditions exclude
// each other: the key then has another default or another range under each method.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "sim/base/diagnostic.h"
#include "sim/base/time.h"
#include "sim/base/units.h"
#include "sim/base/value.h"

namespace sim::base {

// Collects diagnostics while a tree is read.
class Problems {
 public:
  void add(const Place& place, std::string message, std::string hint = {});
  const std::vector<Diagnostic>& list() const { return list_; }
  std::vector<Diagnostic>& list() { return list_; }

 private:
  std::vector<Diagnostic> list_;
};

// Legal numbers, in the base unit of a quantity. An open end is not legal itself.
struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool low_open = false;
  bool high_open = false;
  std::string_view hint = {};  // for a value outside
};
constexpr Range at_least(double low) { return {.low = low}; }
constexpr Range above(double low) { return {.low = low, .low_open = true}; }
constexpr Range between(double low, double high) { return {.low = low, .high = high}; }
constexpr Range from_to_below(double low, double high) {
  return {.low = low, .high = high, .high_open = true};
}
constexpr Range above_to(double low, double high) {
  return {.low = low, .high = high, .low_open = true};
}

// Values of one key, checked alone. Each adds a diagnostic and returns nothing when it is wrong.
std::optional<std::string> read_text(const Value& value, Problems& problems);
std::optional<bool> read_boolean(const Value& value, Problems& problems);
// Also takes reals that are whole numbers, such as 2e10.
std::optional<std::int64_t> read_integer(const Value& value, const Range& range,
                                         Problems& problems);
std::optional<double> read_real(const Value& value, const Range& range, Problems& problems);
// `unit` is what to suggest where there is none; empty: that of the dimension's example.
std::optional<double> read_quantity(const Value& value, Dimension dimension, const Range& range,
                                    Problems& problems, std::string_view unit = {});
std::optional<std::size_t> read_choice(const Value& value, const std::vector<std::string>& choices,
                                       Problems& problems);
std::optional<std::vector<std::string>> read_text_list(const Value& value, Problems& problems);

struct Schema;

// Holds only while `selector` has one of `values`.
struct Condition {
  std::string selector;
  std::vector<std::string> values;
};

struct Record {
  std::string name;
  std::string kind;                // "integer", "time", "one of" ...
  std::string allowed;             // legal values in words; may be empty
  std::optional<Value> standard;   // the default; none: the key is required
  std::string help;
  std::vector<Condition> conditions;  // all must hold
  const Schema* table = nullptr;   // of a key that is a table itself
  std::function<void(const Value&, void* object, Problems&)> read;
  std::function<Value(const void* object)> write;
};

struct Schema {
  std::vector<Record> records;
};

// Reads `table` into `object`: unknown keys, keys of another condition, each value alone, missing
// keys; absent ones get their default. `also_known` are keys that somebody else reads.
void bind(const Schema& schema, const Value& table, void* object, Problems& problems,
          const std::vector<std::string>& also_known = {});

// A table of every key that holds for `object`, in the order of the records.
Value write(const Schema& schema, const void* object);

// `over` laid on `base`, key by key, tables in tables too. Where it changes a selector, keys of
// `base` whose record holds no longer are dropped.
Value merged(const Schema& schema, const Value& base, const Value& over);

// The record that holds for `key` of `table`, or null.
const Record* find_record(const Schema& schema, const Value& table, std::string_view key);
// Whether any record has that name, under whatever condition.
bool knows(const Schema& schema, std::string_view key);

// A default, or kRequired.
struct Required {};
constexpr Required kRequired;
struct Standard {
  std::optional<Value> value;
  Standard(Required) {}
  template <class V>
  Standard(V v) : value(Value::of(v)) {}
  static Standard empty_table() {
    Standard result{kRequired};
    result.value = Value{};
    return result;
  }
  static Standard empty_list() {
    Standard result = empty_table();
    result.value->kind = Value::Kind::kList;
    return result;
  }
};

template <class E>
using Choices = std::vector<std::pair<std::string, E>>;

// The unit that somebody who wrote a bare number probably meant: what the key is usually given in,
// else that of its default, else that of the dimension's example.
std::string suggested_unit(std::string_view key, const std::optional<Value>& standard,
                           Dimension dimension);

std::string in_words(const Range& range);
std::string in_words(const Range& range, Dimension dimension);

// Builds a schema for struct T. `member` is a pointer to a member, or a callable that takes T& or
// const T& and returns a reference: [](auto& t) -> auto& { return t.elasticity.elastic; }.
template <class T>
class SchemaOf : public Schema {
 public:
  template <class F, class R, class W>
  SchemaOf& custom(std::string name, std::string kind, std::string allowed, F member, R read,
                   W write, Standard standard, std::string help) {
    Record record;
    record.name = std::move(name);
    record.kind = std::move(kind);
    record.allowed = std::move(allowed);
    record.standard = std::move(standard.value);
    record.help = std::move(help);
    record.read = [member, read](const Value& value, void* object, Problems& problems) {
      read(value, std::invoke(member, *static_cast<T*>(object)), problems);
    };
    record.write = [member, write](const void* object) -> Value {
      return write(std::invoke(member, *static_cast<const T*>(object)));
    };
    records.push_back(std::move(record));
    return *this;
  }

  template <class F>
  SchemaOf& text(std::string name, F member, Standard standard, std::string help) {
    return custom(
        std::move(name), "text", "", member,
        [](const Value& value, std::string& target, Problems& problems) {
          if (auto read = read_text(value, problems)) target = *read;
        },
        [](const std::string& source) { return Value::of(source); }, std::move(standard),
        std::move(help));
  }

  template <class F>
  SchemaOf& boolean(std::string name, F member, Standard standard, std::string help) {
    return custom(
        std::move(name), "true or false", "", member,
        [](const Value& value, bool& target, Problems& problems) {
          if (auto read = read_boolean(value, problems)) target = *read;
        },
        [](bool source) { return Value::of(source); }, std::move(standard), std::move(help));
  }

  template <class F>
  SchemaOf& integer(std::string name, F member, Range range, Standard standard, std::string help) {
    return custom(
        std::move(name), "integer", in_words(range), member,
        [range](const Value& value, auto& target, Problems& problems) {
          if (auto read = read_integer(value, range, problems)) {
            target = static_cast<std::remove_reference_t<decltype(target)>>(*read);
          }
        },
        [](auto source) { return Value::of(static_cast<std::int64_t>(source)); },
        std::move(standard), std::move(help));
  }

  template <class F>
  SchemaOf& real(std::string name, F member, Range range, Standard standard, std::string help) {
    return custom(
        std::move(name), "number", in_words(range), member,
        [range](const Value& value, double& target, Problems& problems) {
          if (auto read = read_real(value, range, problems)) target = *read;
        },
        [](double source) { return Value::of(source); }, std::move(standard), std::move(help));
  }

  // A double in the base unit.
  template <class F>
  SchemaOf& quantity(std::string name, F member, Dimension dimension, Range range,
                     Standard standard, std::string help) {
    const std::string unit = suggested_unit(name, standard.value, dimension);
    return custom(
        std::move(name), std::string(dimension_name(dimension)), in_words(range, dimension),
        member,
        [range, dimension, unit](const Value& value, double& target, Problems& problems) {
          if (auto read = read_quantity(value, dimension, range, problems, unit)) target = *read;
        },
        [dimension](double source) { return Value::of(format_quantity(source, dimension)); },
        std::move(standard), std::move(help));
  }

  // Integer nanoseconds.
  template <class F>
  SchemaOf& duration(std::string name, F member, Range range, Standard standard,
                     std::string help) {
    const std::string unit = suggested_unit(name, standard.value, Dimension::kTime);
    return custom(
        std::move(name), "time", in_words(range, Dimension::kTime), member,
        [range, unit](const Value& value, Nanoseconds& target, Problems& problems) {
          if (auto read = read_quantity(value, Dimension::kTime, range, problems, unit)) {
            target = from_seconds(*read);
          }
        },
        [](Nanoseconds source) { return Value::of(format_duration(source)); },
        std::move(standard), std::move(help));
  }

  template <class F, class E>
  SchemaOf& choice(std::string name, F member, Choices<E> choices, Standard standard,
                   std::string help) {
    std::vector<std::string> names;
    std::string listed;
    for (const auto& [choice_name, unused] : choices) {
      names.push_back(choice_name);
      listed += (listed.empty() ? "" : " ") + choice_name;
    }
    return custom(
        std::move(name), "one of", std::move(listed), member,
        [names, choices](const Value& value, E& target, Problems& problems) {
          if (auto read = read_choice(value, names, problems)) target = choices[*read].second;
        },
        [choices](E source) {
          for (const auto& [choice_name, value] : choices) {
            if (value == source) return Value::of(choice_name);
          }
          return Value::of(std::string_view{});
        },
        std::move(standard), std::move(help));
  }

  template <class F>
  SchemaOf& text_list(std::string name, F member, std::string help) {
    return custom(
        std::move(name), "list of text", "", member,
        [](const Value& value, std::vector<std::string>& target, Problems& problems) {
          if (auto read = read_text_list(value, problems)) target = *read;
        },
        [](const std::vector<std::string>& source) {
          Value list;
          list.kind = Value::Kind::kList;
          for (const std::string& item : source) list.items.push_back(Value::of(item));
          return list;
        },
        Standard::empty_list(), std::move(help));
  }

  // `nested` must outlive this schema.
  template <class F, class M>
  SchemaOf& table(std::string name, F member, const SchemaOf<M>& nested, std::string help) {
    custom(
        std::move(name), "table", "", member,
        [&nested](const Value& value, M& target, Problems& problems) {
          bind(nested, value, &target, problems);
        },
        [&nested](const M& source) { return base::write(nested, &source); },
        Standard::empty_table(), std::move(help));
    records.back().table = &nested;
    return *this;
  }

  // The record added last holds only while `selector` has one of `values`; a second call adds a second
  // condition.
  SchemaOf& only(std::string selector, std::vector<std::string> values) {
    records.back().conditions.push_back({std::move(selector), std::move(values)});
    return *this;
  }
};

}  // namespace sim::base

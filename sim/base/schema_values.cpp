// sim/base/schema_values.cpp: each kind of value, checked alone.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/base/schema.h"

namespace sim::base {

namespace {

bool is_number(const Value& value) {
  return value.kind == Value::Kind::kInteger || value.kind == Value::Kind::kReal;
}

double as_real(const Value& value) {
  return value.kind == Value::Kind::kInteger ? static_cast<double>(value.integer) : value.real;
}

template <class Print>
std::string range_in_words(const Range& range, Print print) {
  std::string text;
  if (std::isfinite(range.low)) {
    text = fmt::format("{} {}", range.low_open ? "above" : "at least", print(range.low));
  }
  if (std::isfinite(range.high)) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", range.high_open ? "below" : "at most",
                        print(range.high));
  }
  return text;
}

// The end of the range that `value` violates, in words, or "".
template <class Print>
std::string violated(double value, const Range& range, Print print) {
  if (value < range.low || (range.low_open && value == range.low)) {
    return fmt::format("must be {} {}", range.low_open ? "above" : "at least", print(range.low));
  }
  if (value > range.high || (range.high_open && value == range.high)) {
    return fmt::format("must be {} {}", range.high_open ? "below" : "at most", print(range.high));
  }
  return {};
}

template <class Print>
bool in_range(const Value& value, double number, const Range& range, Print print,
              Problems& problems) {
  const std::string rule = violated(number, range, print);
  if (rule.empty()) return true;
  problems.add(value.place, fmt::format("{}; got {}", rule, to_toml(value)),
               std::string(range.hint));
  return false;
}

std::string plain(double number) { return fmt::format("{}", number); }

void wrong_kind(const Value& value, std::string_view wanted, Problems& problems) {
  problems.add(value.place, fmt::format("must be {}; got {}", wanted, to_toml(value)));
}

// "6 h" -> "h".
std::string_view unit_in(std::string_view quantity) {
  const std::size_t space = quantity.rfind(' ');
  return space == std::string_view::npos ? std::string_view() : quantity.substr(space + 1);
}

}  // namespace

std::string suggested_unit(std::string_view key, const std::optional<Value>& standard,
                           Dimension dimension) {
  if (dimension == Dimension::kTime && (key == "rtt" || key == "latency")) return "ms";
  if (dimension == Dimension::kTime && key == "time") return "h";  // a mark
  const std::string text = standard ? standard->text : "";
  // Nothing of a quantity has no unit of its own, but for times, where 0 s stands for seconds.
  const bool tells = !text.empty() && (dimension == Dimension::kTime || !text.starts_with("0 "));
  const std::string_view unit = unit_in(tells ? std::string_view(text) : example_text(dimension));
  return std::string(unit.empty() ? unit_in(example_text(dimension)) : unit);
}

std::string in_words(const Range& range) { return range_in_words(range, plain); }

std::string in_words(const Range& range, Dimension dimension) {
  return range_in_words(range, [dimension](double v) { return format_quantity(v, dimension); });
}

std::optional<std::string> read_text(const Value& value, Problems& problems) {
  if (value.kind == Value::Kind::kText) return value.text;
  wrong_kind(value, "text", problems);
  return {};
}

std::optional<bool> read_boolean(const Value& value, Problems& problems) {
  if (value.kind == Value::Kind::kBoolean) return value.boolean;
  wrong_kind(value, "true or false", problems);
  return {};
}

std::optional<std::int64_t> read_integer(const Value& value, const Range& range,
                                         Problems& problems) {
  constexpr double kExactLimit = 9.0e18;  // below 2^63
  const double number = is_number(value) ? as_real(value) : 0;
  const bool is_whole = value.kind == Value::Kind::kInteger ||
                        (std::abs(number) <= kExactLimit && std::trunc(number) == number);
  if (!is_number(value) || !is_whole) {
    wrong_kind(value, "a whole number", problems);
    return {};
  }
  if (!in_range(value, number, range, plain, problems)) return {};
  return value.kind == Value::Kind::kInteger ? value.integer : static_cast<std::int64_t>(number);
}

std::optional<double> read_real(const Value& value, const Range& range, Problems& problems) {
  if (!is_number(value) || !std::isfinite(as_real(value))) {
    wrong_kind(value, "a finite number", problems);
    return {};
  }
  if (!in_range(value, as_real(value), range, plain, problems)) return {};
  return as_real(value);
}

std::optional<double> read_quantity(const Value& value, Dimension dimension, const Range& range,
                                    Problems& problems, std::string_view unit) {
  if (unit.empty()) unit = unit_in(example_text(dimension));
  if (is_number(value) && std::isfinite(as_real(value))) {
    problems.add(value.place, "needs a unit; got " + to_toml(value),
                 fmt::format("write it as text: \"{} {}\"", to_toml(value), unit));
    return {};
  }
  if (value.kind != Value::Kind::kText) {
    wrong_kind(value, fmt::format("a {} with a unit as text", dimension_name(dimension)), problems);
    return {};
  }
  const QuantityResult result = parse_quantity(value.text, dimension);
  if (!result.error.empty()) {
    problems.add(value.place, result.error,
                 result.lacks_unit ? fmt::format("write it like \"{} {}\"", value.text, unit)
                                   : result.hint);
    return {};
  }
  const auto print = [dimension](double v) { return format_quantity(v, dimension); };
  if (!in_range(value, result.value, range, print, problems)) return {};
  return result.value;
}

std::optional<std::size_t> read_choice(const Value& value, const std::vector<std::string>& choices,
                                       Problems& problems) {
  const auto found = value.kind == Value::Kind::kText
                         ? std::find(choices.begin(), choices.end(), value.text)
                         : choices.end();
  if (found != choices.end()) return static_cast<std::size_t>(found - choices.begin());
  std::string listed;
  for (const std::string& choice : choices) listed += (listed.empty() ? "" : ", ") + choice;
  const std::string nearest =
      value.kind == Value::Kind::kText ? nearest_name(value.text, choices) : "";
  problems.add(value.place,
               fmt::format("must be {}{}; got {}", choices.size() > 1 ? "one of " : "", listed,
                           to_toml(value)),
               nearest.empty() ? "" : fmt::format("did you mean '{}'?", nearest));
  return {};
}

std::optional<std::vector<std::string>> read_text_list(const Value& value, Problems& problems) {
  if (value.kind != Value::Kind::kList) {
    wrong_kind(value, "a list of text", problems);
    return {};
  }
  std::vector<std::string> list;
  for (const Value& item : value.items) {
    const auto text = read_text(item, problems);
    if (!text) return {};
    list.push_back(*text);
  }
  return list;
}

}  // namespace sim::base

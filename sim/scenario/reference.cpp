// sim/scenario/reference.cpp: prints the records of every section.
#include "sim/scenario/reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <stdexcept>

#include "failure_models/distribution_schema.h"
#include "sim/scenario/scenario_schema.h"

namespace sim::scenario {

namespace {

using base::Record;
using base::Schema;

struct Line {
  std::string key, kind, allowed, standard, help;
};

std::string condition_text(const Record& record) {
  if (record.conditions.empty()) return {};
  std::string text;
  for (const base::Condition& condition : record.conditions) {
    text += (text.empty() ? "" : ", ") + condition.selector + " = ";
    for (std::size_t i = 0; i < condition.values.size(); ++i) {
      text += (i == 0 ? "" : " or ") + condition.values[i];
    }
  }
  return " [" + text + "]";
}

std::string standard_text(const Record& record) {
  if (record.table != nullptr) return "";
  if (!record.standard) return "required";
  return base::to_toml(*record.standard);
}

// Nested tables as dotted keys. Sections of their own are passed over in the head.
void add_lines(const Schema& schema, const std::string& prefix, bool is_head, std::vector<Line>& lines) {
  for (const Record& record : schema.records) {
    if (record.table != nullptr) {
      if (!is_head) add_lines(*record.table, prefix + record.name + ".", false, lines);
      continue;
    }
    lines.push_back({prefix + record.name, record.kind, record.allowed, standard_text(record),
                     record.help + condition_text(record)});
    if (record.name == "repair") add_lines(failure_models::repair_schema(), "repair.", false, lines);
  }
}

std::vector<Line> lines_of(const Section& section) {
  std::vector<Line> lines;
  add_lines(*section.schema, "", section.name.empty(), lines);
  return lines;
}

std::string title(const Section& section) {
  if (section.name.empty()) return "Top of the file";
  return section.is_list ? fmt::format("[[{}]]", section.name) : fmt::format("[{}]", section.name);
}

std::string allowed_text(const Line& line) {
  return line.allowed.empty() ? line.kind : line.kind + ": " + line.allowed;
}

std::string name_of(const Section& section) {
  return section.name.empty() ? "top" : section.name;
}

std::string text_of(const Section& section) {
  std::string text = fmt::format("{}: {}\n", title(section), section.help);
  for (const Line& line : lines_of(section)) {
    text += fmt::format("  {:<24} {} (default {})\n  {:<24}   {}\n", line.key, allowed_text(line),
                        line.standard == "required" ? "none: required" : line.standard, "", line.help);
  }
  return text;
}

// For Markdown cells.
std::string escaped(std::string text) {
  std::string result;
  for (const char c : text) {
    if (c == '|') result += '\\';
    result += c;
  }
  return result;
}

}  // namespace

std::string schema_text() {
  std::string text;
  for (const Section& section : sections()) text += (text.empty() ? "" : "\n") + text_of(section);
  return text;
}

std::string schema_text(const std::string& section_name) {
  for (const Section& section : sections()) {
    if (name_of(section) == section_name) return text_of(section);
  }
  throw std::invalid_argument("schema: no section is named " + section_name);
}

std::vector<std::string> section_names() {
  std::vector<std::string> names;
  for (const Section& section : sections()) names.push_back(name_of(section));
  return names;
}

std::string schema_markdown() {
  std::string text;
  for (const Section& section : sections()) {
    text += fmt::format("### {}\n\n{}\n\n| key | kind | default | meaning |\n|---|---|---|---|\n",
                        section.name.empty() ? title(section) : fmt::format("`{}`", title(section)), section.help);
    for (const Line& line : lines_of(section)) {
      text += fmt::format("| `{}` | {} | {} | {} |\n", line.key, escaped(allowed_text(line)),
                          line.standard == "required" ? line.standard : fmt::format("`{}`", line.standard),
                          escaped(line.help));
    }
    text += "\n";
  }
  return text;
}

}  // namespace sim::scenario

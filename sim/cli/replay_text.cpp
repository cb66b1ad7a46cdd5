// sim/cli/replay_text.cpp: see replay_text.h.
#include "sim/cli/replay_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <vector>

namespace sim::cli {
namespace {

using nlohmann::ordered_json;
using Row = std::array<std::string, 5>;

std::string text_in(const ordered_json& value) {
  if (value.is_null()) return "";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::vector<Row> rows(const ordered_json& replay) {
  std::vector<Row> table = {{"mark", "time_s", "tokens", "loss", "recorded_loss"}};
  for (const ordered_json& mark : replay["marks"]) {
    table.push_back({text_in(mark["name"]), text_in(mark["at_s"]), text_in(mark["tokens"]),
                     text_in(mark["loss"]), text_in(mark["recorded_loss"])});
  }
  return table;
}

std::string aligned(const std::vector<Row>& table) {
  std::array<std::size_t, 5> widths{};
  for (const Row& row : table) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const Row& row : table) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += fmt::format("{:<{}}  ", row[i].empty() ? "-" : row[i], widths[i]);
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string joined(const std::vector<Row>& table, const char* separator) {
  std::string text;
  for (const Row& row : table) text += fmt::format("{}\n", fmt::join(row, separator));
  return text;
}

std::string markdown(const std::vector<Row>& table) {
  std::string text;
  for (std::size_t i = 0; i < table.size(); ++i) {
    text += fmt::format("| {} |\n", fmt::join(table[i], " | "));
    if (i == 0) text += "|---|---|---|---|---|\n";
  }
  return text;
}

std::string verdict(const CommandLine& line, const experiment::ReplayOutcome& outcome) {
  switch (outcome.end) {
    case experiment::ReplayEnd::kSame:
      return "replayed: losses equal to the recorded run's bit for bit\n";
    case experiment::ReplayEnd::kDifferent:
      return "replayed: losses differ from the recorded run's\n";
    case experiment::ReplayEnd::kOther:
      return line.sets.empty()
                 ? "replayed: nothing recorded to compare with\n"
                 : fmt::format("replayed: the recorded dates with {}\n", fmt::join(line.sets, ", "));
    default: throw std::logic_error("a replay without a verdict");
  }
}

std::string head(const CommandLine& line, const ordered_json& replay) {
  const ordered_json& clocks = replay["clocks"];
  std::string text = fmt::format(
      "{}: arm {}, seed {}\n{}/tape.atoll: {} facts, trace hash {}\n", text_in(replay["scenario"]),
      text_in(replay["arm"]), text_in(replay["seed"]), line.file, text_in(replay["facts"]),
      text_in(replay["trace_hash"]));
  if (!line.snapshot.empty()) text += fmt::format("from {}\n", line.snapshot);
  if (clocks["live_workers"] != 0) {
    text += fmt::format(
        "clocks: the {} live workers know of each other up to step {}; {} broadcasts and {} takes "
        "were overtaken\n",
        text_in(clocks["live_workers"]), text_in(clocks["watermark_step"]),
        text_in(clocks["overtaken_broadcasts"]), text_in(clocks["overtaken_takes"]));
  }
  return text;
}

}  // namespace

std::string replay_text(const CommandLine& line, const experiment::ReplayOutcome& outcome) {
  const std::vector<Row> table = rows(outcome.replay);
  switch (line.format) {
    case Format::kText:
      return fmt::format("{}\n{}\n{}", head(line, outcome.replay), aligned(table),
                         verdict(line, outcome));
    case Format::kMarkdown:
      return fmt::format("{}\n{}", markdown(table), verdict(line, outcome));
    case Format::kCsv: return joined(table, ",");
    case Format::kJson: return outcome.replay.dump(2) + "\n";
  }
  throw std::logic_error("a format without a writer");
}

}  // namespace sim::cli

// sim/cli/repeat_command.cpp: see repeat_command.h.
#include "sim/cli/repeat_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace sim::cli {
namespace {

bool is_plain(char c) {
  constexpr std::string_view kPlain = "_-./=:,+@";
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         kPlain.find(c) != std::string_view::npos;
}

std::string quoted(const std::string& word) {
  if (!word.empty() && std::ranges::all_of(word, is_plain)) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

}  // namespace

std::string repeat_command(const CommandLine& line, const std::string& arm, std::uint64_t seed,
                           int threads) {
  // A snapshot says which arm and seed it is of.
  std::string command = line.snapshot.empty()
                            ? fmt::format("atoll run {} --arm {} --seed {}", quoted(line.file),
                                          quoted(arm), seed)
                            : fmt::format("atoll run {} --resume {}", quoted(line.file),
                                          quoted(line.snapshot));
  for (const std::string& set : line.sets) command += " --set " + quoted(set);
  if (!line.faults.empty()) command += " --faults " + quoted(line.faults);
  if (line.record) command += " --record";
  if (line.abort_at_s) command += fmt::format(" --abort-at {}", *line.abort_at_s);
  return command + fmt::format(" --threads {} --results ''", threads);
}

}  // namespace sim::cli

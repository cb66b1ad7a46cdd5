// tests/cli/readme_test.cpp: every command that README.md and the sample sweeps show is one that works.
//
// Fenced blocks marked `sh` are commands. Those that call atoll are run in a folder that sees the
// repository's scenarios; quickstart, cmake, ctest and plots are run by continuous integration.
// The sample sweeps show theirs, plots too, in the comment at their top.
// Teeth:  seen failing with a README that says `atoll comapre`, and with a plot that nobody may execute.
#include <catch2/catch.hpp>
#include <sstream>

#include "tests/cli/run_command.h"

namespace tests_cli {
namespace {

std::vector<std::string> commands_in(const std::string& markdown) {
  std::vector<std::string> commands;
  bool inside = false;
  std::istringstream lines(markdown);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) {
      inside = !inside && (line == "```sh" || line == "```bash");
      continue;
    }
    if (!inside) continue;
    if (const auto comment = line.find(" #"); comment != std::string::npos) line.erase(comment);
    line.erase(line.find_last_not_of(' ') + 1);
    if (!line.empty() && line.front() != '#') commands.push_back(line);
  }
  return commands;
}

// The word "atoll" in place of a path to it.
std::string with_plain_name(const std::string& command) {
  constexpr std::string_view kBuilt = "build/sim/atoll";
  if (command.starts_with("./" + std::string(kBuilt))) {
    return "atoll" + command.substr(kBuilt.size() + 2);
  }
  if (command.starts_with(kBuilt)) return "atoll" + command.substr(kBuilt.size());
  return command;
}

TEST_CASE("README: commands are taken from fenced blocks only", "[cli]") {
  const auto commands = commands_in("a\n```sh\natoll schema   # keys\n\n# note\n```\nb\n```\nout\n```\n");
  CHECK(commands == std::vector<std::string>{"atoll schema"});
  CHECK(with_plain_name("build/sim/atoll schema") == "atoll schema");
}

TEST_CASE("README: every atoll command ends well", "[cli][slow]") {
  const fs::path root(ATOLL_SOURCE_DIR);
  const Place place;
  fs::create_directory_symlink(root / "scenarios", place.root / "scenarios");
  for (const char* document : {"README.md", "CONTRIBUTING.md"}) {
    for (const std::string& command : commands_in(text_of(root / document))) {
      const std::string plain = with_plain_name(command);
      if (!plain.starts_with("atoll ")) continue;
      CAPTURE(document, command);
      const Outcome got = shell(plain, place.root);
      CHECK(got.err == "");
      CHECK(got.exit_code == 0);
    }
  }
}

TEST_CASE("sample sweeps: the commands at their top end well", "[cli][slow]") {
  const fs::path root(ATOLL_SOURCE_DIR);
  const Place place;
  for (const char* folder : {"scenarios", "plots"}) fs::create_directory_symlink(root / folder, place.root / folder);
  std::size_t commands = 0;
  for (const char* name : {"first.toml", "paper_goodput.toml"}) {
    std::istringstream lines(text_of(root / "scenarios/sweeps" / name));
    for (std::string line; std::getline(lines, line) && line.starts_with("#");) {
      if (!line.starts_with("#   ")) continue;
      const std::string command = line.substr(4);
      CAPTURE(name, command);
      const Outcome got = shell("PYTHONDONTWRITEBYTECODE=1 " + command, place.root);
      CHECK(got.err == "");
      CHECK(got.exit_code == 0);
      ++commands;
    }
  }
  CHECK(commands == 4);  // a sweep and its picture each
}

}  // namespace
}  // namespace tests_cli

// sim/cli/command_line.cpp: see command_line.h. With sweep_line.cpp the only file that includes CLI11.
#include "sim/cli/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <map>
#include <sstream>
#include <string_view>

#include "sim/base/diagnostic.h"
#include "sim/cli/output.h"
#include "sim/experiment/version.h"

namespace sim::cli {
namespace {

constexpr int kUsageExit = 2, kFileExit = 3;
constexpr std::uint64_t kSeedsMax = 10'000;

// The whole text is one number that fits.
std::optional<std::uint64_t> whole_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "1..10" or "7"; throws what CLI11 reports.
std::vector<std::uint64_t> seeds_from(const std::string& text) {
  const std::size_t dots = text.find("..");
  const auto first = whole_number(std::string_view(text).substr(0, dots));
  const auto last =
      dots == std::string::npos ? first : whole_number(std::string_view(text).substr(dots + 2));
  if (!first || !last) {
    throw CLI::ValidationError("--seeds", "must be FIRST..LAST, whole numbers; got " + text);
  }
  if (*last < *first) {
    throw CLI::ValidationError("--seeds", "must not end before its start; got " + text);
  }
  if (*last - *first >= kSeedsMax) {
    throw CLI::ValidationError("--seeds",
                               fmt::format("must be at most {} seeds; got {}", kSeedsMax, text));
  }
  std::vector<std::uint64_t> seeds;
  for (std::uint64_t seed = *first;; ++seed) {
    seeds.push_back(seed);
    if (seed == *last) return seeds;
  }
}

void add_sets(CLI::App& verb, CommandLine& line, const std::string& help) {
  verb.add_option("--set", line.sets, help)
      ->type_name("KEY=VALUE")
      ->take_all()
      ->expected(1)
      ->allow_extra_args(false);
}

void add_format(CLI::App& verb, CommandLine& line) {
  static const std::map<std::string, Format> formats = {{"text", Format::kText},
                                                        {"json", Format::kJson},
                                                        {"csv", Format::kCsv},
                                                        {"markdown", Format::kMarkdown}};
  verb.add_option_function<std::string>(
          "--format", [&line](const std::string& name) { line.format = formats.at(name); },
          "text, json, csv or markdown")
      ->check(CLI::IsMember({"text", "json", "csv", "markdown"}))
      ->type_name("NAME");
}

void add_replay_options(CLI::App& verb, CommandLine& line) {
  verb.add_option("folder", line.file, "Results of a run with its tape (atoll run --record)")
      ->required()
      ->type_name("DIR");
  add_sets(verb, line, "Replace a value of learning, inner, outer, merge or mixing");
  verb.add_option("--from", line.snapshot, "Go on from a snapshot of the recorded run")
      ->type_name("SNAPSHOT")
      ->excludes("--set");
  verb.add_option("--threads", line.threads, "Threads of the mathematics")
      ->check(CLI::Range(1, 4096));
  verb.add_option_function<std::string>(
          "--results", [&line](const std::string& folder) { line.replay_results = folder; },
          "Folder to write loss.csv, convergence.csv and replay.json into")
      ->type_name("OUT");
  verb.add_flag("--force", line.force, "Replace what OUT holds");
  verb.add_flag("--quiet", line.quiet, "No progress");
  add_format(verb, line);
}

void add_scenario_options(CLI::App& verb, CommandLine& line) {
  verb.add_option("file", line.file, "Scenario file (TOML)")->required()->type_name("FILE");
  add_sets(verb, line, "Replace one value, KEY=VALUE; may be repeated");
  verb.add_option("--seed", line.seed, "Replace the scenario's seed")->type_name("N");
}

void add_run_options(CLI::App& verb, CommandLine& line) {
  verb.add_option_function<std::string>(
          "--seeds", [&line](const std::string& text) { line.seeds = seeds_from(text); },
          "One run per seed, as 1..10")
      ->type_name("FIRST..LAST")
      ->excludes("--seed");
  verb.add_option("--jobs", line.jobs, "Runs at a time (default: one per core)")
      ->check(CLI::Range(1, 4096));
  verb.add_option("--threads", line.threads, "Threads of one run's mathematics")
      ->check(CLI::Range(1, 4096));
  verb.add_option("--results", line.results, "Folder of results; \"\" writes none")
      ->type_name("DIR")
      ->capture_default_str();
  verb.add_flag("--force", line.force, "Replace results of another scenario");
  verb.add_flag("--record", line.record, "Also write the tape");
  verb.add_flag("--quiet", line.quiet, "No progress, no notes");
  add_format(verb, line);
  verb.add_option("--faults", line.faults,
                  "Recorded faults.csv that replaces all failures and faults")
      ->type_name("FILE");
  verb.add_option("--abort-at", line.abort_at_s)->group("");
}

std::string version_message() {
  return fmt::format("atoll {}\ncommit {}\ninstruction set {}\nSimGrid {}\n",
                     experiment::version_text(), experiment::commit_text(),
                     experiment::isa_text(), experiment::simgrid_version_text());
}

std::vector<std::string> verb_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(verb->get_name());
  }
  return names;
}

bool names_no_verb(const CLI::App& app, const std::string& word) {
  const std::vector<std::string> names = verb_names(app);
  return !word.starts_with('-') && std::ranges::count(names, word) == 0;
}

int report_verb(const CLI::App& app, const std::string& word) {
  const std::vector<std::string> names = verb_names(app);
  const std::string near = base::nearest_name(word, names);
  print_error(fmt::format("error: no verb is named '{}'\n  hint: {}\n", word,
                          near.empty() ? fmt::format("verbs are {}", fmt::join(names, " "))
                                       : fmt::format("did you mean '{}'?", near)));
  return kUsageExit;
}

int report_usage(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) {  // help or version was asked for
    std::ostringstream text, nothing;
    app.exit(error, text, nothing);
    return print_result(text.str()) ? 0 : kFileExit;
  }
  const bool one_verb = app.get_subcommands().size() == 1;
  const std::string verb = one_verb ? " " + app.get_subcommands().front()->get_name() : "";
  print_error(fmt::format("error: {}\n  hint: atoll{} --help\n", error.what(), verb));
  return kUsageExit;
}

}  // namespace

Parsed parse_command_line(int argc, const char* const* argv) {
  CommandLine line;
  CLI::App app{"Atoll: training one model on many islands of accelerators, simulated", "atoll"};
  app.set_version_flag("--version", version_message());
  app.require_subcommand(1);

  CLI::App* run = app.add_subcommand("run", "One arm of a scenario, one or many seeds");
  add_scenario_options(*run, line);
  run->add_option("--arm", line.arm, "Which arm (default: the first)")->type_name("NAME");
  add_run_options(*run, line);
  CLI::App* compare = app.add_subcommand("compare", "All arms on the same failures, one table");
  add_scenario_options(*compare, line);
  compare->add_option("--reference", line.reference,
                      "Arm that differences are taken against (default: the first)")
      ->type_name("NAME");
  add_run_options(*compare, line);
  run->add_option("--resume", line.snapshot,
                  "Go on from a snapshot (training.snapshot.every) of this run")
      ->type_name("SNAPSHOT")
      ->excludes("--arm")
      ->excludes("--seed")
      ->excludes("--seeds");
  CLI::App* replay =
      app.add_subcommand("replay", "The mathematics of a recorded run, from its tape alone");
  add_replay_options(*replay, line);
  CLI::App* validate = app.add_subcommand("validate", "Check a scenario and forecast its load");
  add_scenario_options(*validate, line);
  add_sweep_verbs(app, line);
  CLI::App* schema = app.add_subcommand("schema", "Every key of a scenario file");
  schema->add_option("section", line.section, "One table only, such as training")
      ->type_name("SECTION");
  CLI::App* catalogue = app.add_subcommand("catalogue", "Chips and links that are known by name");

  if (argc > 1 && names_no_verb(app, argv[1])) return {std::nullopt, report_verb(app, argv[1])};
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return {std::nullopt, report_usage(app, error)};
  }
  if (run->parsed()) line.verb = Verb::kRun;
  if (compare->parsed()) line.verb = Verb::kCompare;
  if (replay->parsed()) line.verb = Verb::kReplay;
  if (validate->parsed()) line.verb = Verb::kValidate;
  if (schema->parsed()) line.verb = Verb::kSchema;
  if (catalogue->parsed()) line.verb = Verb::kCatalogue;
  if (app.got_subcommand("sweep")) line.verb = Verb::kSweep;
  if (app.got_subcommand("merge")) line.verb = Verb::kMerge;
  if (app.got_subcommand("baseline")) line.verb = Verb::kBaseline;
  if (app.got_subcommand("check")) line.verb = Verb::kCheck;
  return {line, 0};
}

}  // namespace sim::cli

// sim/cli/replay.cpp: `atoll replay`: the mathematics of a recorded run, from its tape alone.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <thread>

#include "sim/base/diagnostic.h"
#include "sim/cli/output.h"
#include "sim/cli/replay_settings.h"
#include "sim/cli/replay_text.h"
#include "sim/cli/snapshot_loading.h"
#include "sim/cli/verbs.h"
#include "sim/experiment/interruption.h"
#include "sim/experiment/replay.h"
#include "sim/experiment/version.h"
#include "sim/scenario/load.h"

namespace sim::cli {
namespace {

using experiment::ReplayEnd;
using experiment::ReplayOutcome;
using experiment::ReplayRequest;

struct Settings {
  std::optional<scenario::Scenario> recorded, replayed;
  int exit_code = 0;  // when there is none of either; everything is said then
};

std::optional<scenario::Scenario> loaded(const std::string& path,
                                         const std::vector<std::string>& sets, int& exit_code) {
  scenario::LoadResult result = scenario::load_file(path, sets);
  if (result.scenario) return std::move(result.scenario);
  print_error(base::format(result.diagnostics));
  exit_code = result.file_missing ? kFileTrouble : kMistake;
  return std::nullopt;
}

bool has_model(const scenario::Scenario& scenario) {
  return scenario.arms.at(0).learning.model.kind != optim::ModelKind::kNone;
}

Settings settings_from(const CommandLine& line) {
  namespace fs = std::filesystem;
  Settings settings;
  const std::string path = line.file + "/scenario.toml";
  std::error_code error;
  if (!fs::exists(path, error)) {
    print_error(fmt::format("{}: error: holds no results of a run\n"
                            "  hint: give the folder that holds its scenario.toml and tape.atoll\n",
                            line.file));
    settings.exit_code = kFileTrouble;
    return settings;
  }
  base::Problems problems;
  const std::vector<std::string> sets = replay_settings(line.sets, problems);
  if (!problems.list().empty()) {
    print_error(base::format(problems.list()));
    settings.exit_code = kMistake;
    return settings;
  }
  settings.recorded = loaded(path, {}, settings.exit_code);
  if (settings.recorded) settings.replayed = loaded(path, sets, settings.exit_code);
  if (!settings.replayed || has_model(*settings.replayed)) return settings;
  print_error(fmt::format("{}: error: learning.model: is none, so there is nothing to replay\n"
                          "  hint: run it again with --set learning.model=... --record\n",
                          path));
  settings.replayed.reset();
  settings.exit_code = kMistake;
  return settings;
}

std::function<void(double)> progress_line(const CommandLine& line) {
  if (line.quiet || isatty(STDERR_FILENO) == 0) return nullptr;
  return [shown = -1](double share) mutable {
    const int percent = static_cast<int>(share * 100.0);
    if (percent == shown) return;
    shown = percent;
    print_error(percent >= 100 ? "\r                                \r"
                               : fmt::format("\r{:3} % of the tape", percent));
  };
}

int report_bug(const CommandLine& line, const std::string& reason) {
  std::string command = "atoll replay " + line.file;
  for (const std::string& set : line.sets) command += " --set " + set;
  if (!line.snapshot.empty()) command += " --from " + line.snapshot;
  print_error(fmt::format("bug: {}\n  version: {}\n  repeat with: {}\n", reason,
                          experiment::version_text(), command));
  return kBug;
}

int report(const CommandLine& line, const ReplayOutcome& outcome) {
  switch (outcome.end) {
    case ReplayEnd::kSame:
    case ReplayEnd::kOther:
    case ReplayEnd::kDifferent:
      if (!print_result(replay_text(line, outcome))) return kFileTrouble;
      if (outcome.end != ReplayEnd::kDifferent) return kDone;
      print_error(outcome.message + "\n");
      return kUnmet;
    case ReplayEnd::kRefused: print_error(outcome.message + "\n"); return kMistake;
    case ReplayEnd::kFileTrouble: print_error(outcome.message + "\n"); return kFileTrouble;
    case ReplayEnd::kBug: return report_bug(line, outcome.message);
    case ReplayEnd::kInterrupted: return experiment::exit_code_of_signal(outcome.signal_number);
  }
  throw std::logic_error("a replay's end without an exit code");
}

// What is written must not take the place of what is read.
bool writes_onto_itself(const CommandLine& line) {
  std::error_code error;
  return !line.replay_results.empty() &&
         std::filesystem::equivalent(line.file, line.replay_results, error);
}

}  // namespace

int replay(const CommandLine& line) {
  if (writes_onto_itself(line)) {
    print_error(fmt::format("error: --results: must be another folder than the recorded run's; got {}\n",
                            line.replay_results));
    return kMistake;
  }
  const Settings settings = settings_from(line);
  if (!settings.replayed) return settings.exit_code;
  const std::string& arm = settings.recorded->arms.at(0).training.name;
  ReplayRequest request{};
  request.folder = line.file;
  request.recorded_hash = scenario::run_hash(*settings.recorded, arm);
  request.scenario = &*settings.replayed;
  request.is_changed = scenario::run_hash(*settings.replayed, arm) != request.recorded_hash;
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  request.threads = line.threads == 0 ? cores : std::min(line.threads, cores);
  request.results = line.replay_results;
  request.overwrite = line.force ? experiment::Overwrite::kForce
                                 : experiment::Overwrite::kSameScenarioOnly;
  request.on_progress = progress_line(line);
  if (!line.snapshot.empty()) {
    const LoadedSnapshot snapshot = load_snapshot(line.snapshot);
    if (!snapshot.file) return snapshot.exit_code;
    if (snapshot.file->origin.scenario_hash != request.recorded_hash) {
      say_other_scenario(line.file + "/scenario.toml", line.snapshot);
      return kMistake;
    }
    request.from = snapshot.file;
  }
  return report(line, experiment::replay(request));
}

}  // namespace sim::cli

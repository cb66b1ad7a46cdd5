// sim/cli/sweep_common.cpp: see sweep_common.h.
#include "sim/cli/sweep_common.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <thread>
#include <utility>

#include "sim/base/diagnostic.h"
#include "sim/cli/output.h"
#include "sim/cli/verbs.h"
#include "sim/experiment/stopwatch.h"
#include "sim/experiment/sweep_forecast.h"

namespace sim::cli {
namespace {

bool shows_progress(const CommandLine& line) { return !line.quiet && isatty(STDERR_FILENO) != 0; }

}  // namespace

LoadedSweep load_sweep(const CommandLine& line, bool needs_sweep) {
  experiment::SweepRequest request{};
  request.file = line.file;
  request.sets = line.sets;
  request.seeds = line.seeds;
  request.until_ci = line.sweep.until_ci;
  request.metrics = line.sweep.metrics;
  request.needs_sweep = needs_sweep;
  if (needs_sweep && !line.sweep.yes) {
    request.size = line.sweep.dry_run ? experiment::SizeAllowed::kForecast : experiment::SizeAllowed::kAsked;
  }
  experiment::SweepLoad loaded = experiment::load_sweep(request);
  if (loaded.plan) return {std::move(loaded.plan), 0};
  print_error(base::format(loaded.diagnostics));
  return {std::nullopt, loaded.file_missing ? kFileTrouble : kMistake};
}

int sweep_jobs(const CommandLine& line) {
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  return line.jobs == 0 ? cores : std::min(line.jobs, cores);
}

std::function<void(const experiment::SweepProgress&)> sweep_progress(const CommandLine& line) {
  if (!shows_progress(line)) return nullptr;
  struct State {
    experiment::Stopwatch since_start, since_shown;
    bool shown = false;
    double done_before = 0;  // by an earlier command
  };
  return [state = std::make_shared<State>()](const experiment::SweepProgress& progress) {
    constexpr double kPause = 0.2;
    const auto done = static_cast<double>(progress.done), all = static_cast<double>(progress.all);
    if (!state->shown) state->done_before = done;
    if (state->shown && state->since_shown.seconds() < kPause) return;
    state->shown = true;
    state->since_shown.restart();
    const double rate = (done - state->done_before) / std::max(state->since_start.seconds(), 1e-3);
    const std::string pace =
        rate > 0 ? fmt::format(" {:.3g}/s, {} left,", rate, experiment::duration_in_words((all - done) / rate)) : "";
    print_error(fmt::format("\r\x1b[K{:3.0f} %  {} of {} runs,{} {} failed", 100 * done / all, progress.done,
                            progress.all, pace, progress.failed));
  };
}

void end_progress(const CommandLine& line) {
  if (shows_progress(line)) print_error("\r\x1b[K");
}

experiment::SweepTestSwitches test_switches(const CommandLine& line) {
  return {line.abort_at_s, line.sweep.abort_seed, line.sweep.repair_factor};
}

std::optional<int> say_trouble(const experiment::SweepOutcome& outcome, std::optional<std::uint64_t> all) {
  using experiment::SweepEnd;
  const std::string of_all = all ? fmt::format(" of {}", *all) : "";
  const std::string so_far = fmt::format("{}{} runs are done, {} of them failed", outcome.runs, of_all, outcome.failed);
  switch (outcome.end) {
    case SweepEnd::kDone: return std::nullopt;
    case SweepEnd::kRefused: print_error(outcome.message + "\n"); return kMistake;
    case SweepEnd::kFileTrouble: {
      const bool has_hint = outcome.message.find("\n  hint: ") != std::string::npos;
      print_error(outcome.message + (has_hint ? "\n" : "\n  hint: what is done is kept; go on with --resume\n"));
      return kFileTrouble;
    }
    case SweepEnd::kBug:
      print_error(fmt::format("bug: {}\n  {}; go on with --resume\n", outcome.message, so_far));
      return kBug;
    case SweepEnd::kTooManyFailures:
      print_error(fmt::format("stopped: too many runs failed; {}\n  hint: --resume goes on\n", so_far));
      return kFailedRuns;
    case SweepEnd::kInterrupted:
      print_error(fmt::format("stopped: {}\n  hint: --resume goes on\n", so_far));
      return experiment::exit_code_of_signal(outcome.signal_number);
  }
  throw std::logic_error("a sweep ended in no known way");
}

}  // namespace sim::cli

// sim/cli/sweep.cpp: `atoll sweep`: every point x arm x seed, into runs.csv and points.csv.
#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <system_error>

#include "sim/cli/output.h"
#include "sim/cli/sweep_common.h"
#include "sim/cli/verbs.h"
#include "sim/experiment/slurm.h"
#include "sim/experiment/sweep_forecast.h"

namespace sim::cli {
namespace {

using experiment::SweepOutcome;
using experiment::SweepPlan;
using experiment::SweepSettings;

std::string folder_of(const CommandLine& line) {
  const std::string stem = std::filesystem::path(line.file).stem().string();
  const std::string whole = (std::filesystem::path(line.results) / (stem + ".sweep")).string();
  const SweepLine& sweep = line.sweep;
  if (sweep.shard_count == 1) return whole;
  return fmt::format("{}/shard-{}-of-{}", whole, sweep.shard_number, sweep.shard_count);
}

std::string plural(std::uint64_t count, const char* one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

// What was tried, and what not.
std::string trials_text(const experiment::SweepForecast& told, int jobs) {
  const std::string untried = told.untried == 0 ? "" : fmt::format("; {} could not be tried", told.untried);
  if (told.trials == 0) return fmt::format("how long is not known{}\n", untried);
  return fmt::format("about {} with {}, from {} of its own{}\n", experiment::duration_in_words(told.seconds(jobs)),
                     plural(static_cast<std::uint64_t>(jobs), "job"), plural(told.trials, "trial run"), untried);
}

int dry_run(const CommandLine& line, const SweepPlan& plan) {
  experiment::InterruptionWatch watch;
  const experiment::Shard shard{line.sweep.shard_number, line.sweep.shard_count};
  const auto kept = line.sweep.keep ? experiment::KeptRuns::kAll : experiment::KeptRuns::kNone;
  experiment::SweepForecast told;
  try {
    told = experiment::forecast(plan, shard, kept, watch);
  } catch (const std::system_error& error) {
    print_error(std::string(error.what()) + "\n");
    return kFileTrouble;
  }
  if (watch.signal_number() != 0) return experiment::exit_code_of_signal(watch.signal_number());
  std::string text = fmt::format("{}, {} x {} x {}\n", plural(told.runs, "run"), plural(told.points, "point"),
                                 plural(plan.arms.size(), "arm"), plural(plan.seeds_first(), "seed"));
  if (plan.options.until_ci > 0) {
    text += fmt::format("until_ci begins with {}, and goes up to {} where an interval stays wide\n",
                        plural(plan.seeds_first(), "seed"), plan.options.seeds_max);
  }
  text += trials_text(told, sweep_jobs(line));
  text += fmt::format("about {} in {}{}\n", experiment::bytes_in_words(told.bytes), folder_of(line),
                      told.kept_unknown ? ", without what --keep keeps: no trial run ended" : "");
  return print_result(text) ? kDone : kFileTrouble;
}

SweepSettings settings_of(const CommandLine& line) {
  using experiment::SweepStart;
  const SweepLine& sweep = line.sweep;
  SweepSettings settings{};
  settings.folder = folder_of(line);
  settings.start = sweep.resume ? SweepStart::kResume : line.force ? SweepStart::kForce : SweepStart::kFresh;
  settings.shard = {sweep.shard_number, sweep.shard_count};
  settings.jobs = sweep_jobs(line);
  settings.keep = sweep.keep;
  settings.retry_failed = sweep.retry_failed;
  settings.failures_max = sweep.fail_fast ? 1 : sweep.failures_max;
  settings.test = test_switches(line);
  settings.on_progress = sweep_progress(line);
  return settings;
}

SweepOutcome on_slurm(const CommandLine& line, const SweepPlan& plan) {
  const SweepLine& sweep = line.sweep;
  experiment::SlurmSettings slurm{};
  slurm.file = line.file;
  slurm.folder = folder_of(line);
  slurm.results = line.results;
  slurm.sets = line.sets;
  if (!line.seeds.empty()) slurm.seeds = fmt::format("{}..{}", line.seeds.front(), line.seeds.back());
  slurm.until_ci = sweep.until_ci;
  if (!sweep.metrics.empty()) slurm.metric = sweep.metrics.front();
  slurm.shards = sweep.slurm_shards;
  slurm.time = sweep.slurm_time;
  slurm.memory = sweep.slurm_memory;
  slurm.cpus = sweep.slurm_cpus;
  slurm.options = sweep.slurm_options;
  slurm.retries = sweep.slurm_retries;
  slurm.force = line.force;
  slurm.resume = sweep.resume;
  slurm.keep = sweep.keep;
  slurm.retry_failed = sweep.retry_failed;
  slurm.failures_max = sweep.fail_fast ? 1 : sweep.failures_max;
  slurm.look_every_s = sweep.slurm_look_every_s;
  slurm.test = test_switches(line);
  slurm.on_progress = sweep_progress(line);
  slurm.on_note = [quiet = line.quiet](const std::string& text) {
    if (!quiet) print_error(text + "\n");
  };
  return experiment::run_on_slurm(plan, slurm);
}

}  // namespace

int sweep(const CommandLine& line) {
  const LoadedSweep loaded = load_sweep(line, true);
  if (!loaded.plan) return loaded.exit_code;
  const SweepPlan& plan = *loaded.plan;
  if (line.sweep.dry_run) return dry_run(line, plan);
  const SweepOutcome outcome =
      line.sweep.slurm ? on_slurm(line, plan) : experiment::run_sweep(plan, settings_of(line));
  end_progress(line);
  std::optional<std::uint64_t> all = plan.run_count();
  if (plan.options.until_ci > 0) all.reset();  // how many there are shows as they are done
  if (const auto code = say_trouble(outcome, all)) return *code;
  const std::string folder = folder_of(line);
  const std::string text = fmt::format("{}, {} failed\n{}/runs.csv\n{}/points.csv\n", plural(outcome.runs, "run"),
                                       outcome.failed, folder, folder);
  if (!print_result(text)) return kFileTrouble;
  if (!outcome.first_failure.empty()) print_error("first failed run: " + outcome.first_failure + "\n");
  return outcome.failed > 0 ? kFailedRuns : kDone;
}

}  // namespace sim::cli

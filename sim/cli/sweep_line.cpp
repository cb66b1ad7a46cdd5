// sim/cli/sweep_line.cpp: see sweep_line.h.
#include "sim/cli/sweep_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>

#include "sim/cli/command_line.h"
#include "sim/experiment/sweep_folder.h"
#include "sim/experiment/sweep_load.h"

namespace sim::cli {
namespace {

// "2/8", from 1 to the count.
void read_shard(const std::string& text, SweepLine& sweep) {
  const char* const end = text.data() + text.size();
  const auto number = std::from_chars(text.data(), end, sweep.shard_number);
  const bool slash = number.ec == std::errc() && number.ptr != end && *number.ptr == '/';
  const auto count = slash ? std::from_chars(number.ptr + 1, end, sweep.shard_count) : number;
  if (!slash || count.ec != std::errc() || count.ptr != end) {
    throw CLI::ValidationError("--shard", "must be NUMBER/COUNT, such as 2/8; got " + text);
  }
  if (sweep.shard_number < 1 || sweep.shard_number > sweep.shard_count) {
    throw CLI::ValidationError(
        "--shard", fmt::format("must be from 1/{0} to {0}/{0}; got {1}", sweep.shard_count, text));
  }
  if (sweep.shard_count > experiment::kShardCountMax) {
    throw CLI::ValidationError(
        "--shard", fmt::format("must be one of at most {} shards; got {}", experiment::kShardCountMax, text));
  }
}

void read_seeds(const std::string& text, CommandLine& line) {
  const auto seeds = experiment::parse_seeds(text);
  if (!seeds) throw CLI::ValidationError("--seeds", "must be FIRST..LAST, whole numbers, rising; got " + text);
  line.seeds = *seeds;
}

void add_common(CLI::App& verb, CommandLine& line) {
  verb.add_option("file", line.file, "Sweep file, or scenario with [sweep] (TOML)")->required()->type_name("FILE");
  verb.add_option("--set", line.sets, "Replace one value of the scenario, KEY=VALUE; may be repeated")
      ->type_name("KEY=VALUE")
      ->take_all()
      ->expected(1)
      ->allow_extra_args(false);
  verb.add_option_function<std::string>(
          "--seeds", [&line](const std::string& text) { read_seeds(text, line); },
          "Seeds of every point and arm, as 1..10")
      ->type_name("FIRST..LAST");
  verb.add_option("--jobs", line.jobs, "Runs at a time (default: one per core)")->check(CLI::Range(1, 4096));
  verb.add_flag("--quiet", line.quiet, "No progress, no notes");
  verb.add_option("--abort-at", line.abort_at_s)->group("");
  verb.add_option("--abort-seed", line.sweep.abort_seed)->group("");
  verb.add_option("--test-repair-factor", line.sweep.repair_factor)->group("");
}

CLI::Option* add_metric(CLI::App& verb, SweepLine& sweep, const char* meaning) {
  return verb.add_option("--metric", sweep.metrics, meaning)->type_name("KEY");
}

// What would be passed over in silence is refused. CLI11's needs() looks at names, not at values.
void check_executor(const CLI::App& verb, const SweepLine& sweep) {
  for (const char* option : {"--shards", "--slurm-time", "--slurm-memory", "--slurm-cpus", "--slurm-retries", "--slurm-option"}) {
    if (!sweep.slurm && verb.count(option) > 0) throw CLI::ValidationError(option, "needs --executor slurm");
  }
  if (!sweep.slurm) return;
  if (verb.count("--shard") > 0) throw CLI::ValidationError("--shard", "cannot stand beside --executor slurm, which makes its own: --shards");
  if (verb.count("--jobs") > 0) throw CLI::ValidationError("--jobs", "cannot stand beside --executor slurm: --slurm-cpus says it");
}

void add_slurm(CLI::App& verb, SweepLine& sweep) {
  verb.add_option_function<std::string>(
          "--executor", [&sweep](const std::string& name) { sweep.slurm = name == "slurm"; },
          "local, or slurm: shards as a job array")
      ->check(CLI::IsMember({"local", "slurm"}))
      ->type_name("NAME");
  verb.add_option("--shards", sweep.slurm_shards, "Slurm: how many (default: one per point)")
      ->check(CLI::Range(1, 1000));
  verb.add_option("--slurm-time", sweep.slurm_time, "Slurm: time limit of a shard, as sbatch --time");
  verb.add_option("--slurm-memory", sweep.slurm_memory, "Slurm: memory of a shard, as sbatch --mem");
  verb.add_option("--slurm-cpus", sweep.slurm_cpus, "Slurm: cores of a shard")->check(CLI::Range(1, 4096));
  verb.add_option("--slurm-retries", sweep.slurm_retries, "Slurm: how often a shard is queued again")
      ->check(CLI::Range(0, 1000));
  verb.add_option("--slurm-option", sweep.slurm_options, "Slurm: a further word for sbatch; may be repeated")
      ->take_all()
      ->expected(1)
      ->allow_extra_args(false);
  verb.add_option("--test-slurm-look", sweep.slurm_look_every_s)->check(CLI::Range(0.001, 3600.0))->group("");
  verb.callback([&verb, &sweep] { check_executor(verb, sweep); });
}

void add_sweep(CLI::App& app, CommandLine& line) {
  SweepLine& sweep = line.sweep;
  CLI::App& verb = *app.add_subcommand("sweep", "All points of a sweep x arms x seeds, into two tables");
  add_common(verb, line);
  add_metric(verb, sweep, "Share in summary.json that --until-ci looks at, as goodput.token")->expected(1);
  verb.add_option("--results", line.results, "Folder of results; the sweep writes DIR/NAME.sweep")
      ->type_name("DIR")
      ->capture_default_str();
  verb.add_flag("--dry-run", sweep.dry_run, "Only say how many runs, and estimate time and disk");
  verb.add_flag("--resume", sweep.resume, "Go on with a sweep that was stopped");
  verb.add_flag("--retry-failed", sweep.retry_failed, "With --resume: also runs that failed")->needs("--resume");
  verb.add_flag("--force", line.force, "Begin again, replacing another sweep's folder")->excludes("--resume");
  verb.add_flag("--yes", sweep.yes, "Really more than 10 million runs");
  verb.add_flag("--keep", sweep.keep, "Keep each run's results folder");
  verb.add_flag("--fail-fast", sweep.fail_fast, "Stop at the first run that fails");
  verb.add_option("--max-failures", sweep.failures_max, "Stop once so many runs have failed")
      ->check(CLI::PositiveNumber)
      ->excludes("--fail-fast");
  verb.add_option("--until-ci", sweep.until_ci,
                  "Add seeds, from at least 10 on, until the metric's interval is at most this many points to each side")
      ->check(CLI::Range(0.001, 100.0));
  verb.add_option_function<std::string>(
          "--shard", [&sweep](const std::string& text) { read_shard(text, sweep); },
          "Only this part of the points, as 2/8")
      ->type_name("NUMBER/COUNT");
  add_slurm(verb, sweep);
}

void add_merge(CLI::App& app, CommandLine& line) {
  CLI::App& verb = *app.add_subcommand("merge", "Tables of all shards of a sweep, joined");
  verb.add_option("folders", line.sweep.folders, "Folders of the shards")->required()->type_name("DIR");
  verb.add_option("--out", line.sweep.out, "Folder for the tables (default: the one that the first shard lies in)")
      ->type_name("DIR");
  verb.add_flag("--force", line.force, "Replace what another sweep left there");
}

void add_gate(CLI::App& app, CommandLine& line) {
  CLI::App& record = *app.add_subcommand("baseline", "Record a curve for the gate");
  constexpr const char* kGuarded = "Share in summary.json to guard, as goodput.token; may be repeated";
  add_common(record, line);
  add_metric(record, line.sweep, kGuarded)->take_all()->expected(1)->allow_extra_args(false);
  record.add_option("--out", line.sweep.out, "File to write (JSON)")->required()->type_name("FILE");
  CLI::App& check = *app.add_subcommand("check", "The gate: has the curve become worse than its baseline?");
  add_common(check, line);
  add_metric(check, line.sweep, kGuarded)->take_all()->expected(1)->allow_extra_args(false);
  check.add_option("--baseline", line.sweep.baseline, "File that atoll baseline wrote")->required()->type_name("FILE");
  check.add_option("--junit", line.sweep.junit, "Also write a JUnit report")->type_name("FILE");
  check.add_option("--markdown", line.sweep.markdown, "Also write a table for a pull request")->type_name("FILE");
  check.add_option("--smallest", line.sweep.smallest_points, "Smallest loss that matters, in points")
      ->check(CLI::Range(0.0, 100.0))
      ->capture_default_str();
  check.add_flag("--exact", line.sweep.exact, "Compare trace hashes: any change fails");
  check.add_flag("--strict", line.sweep.strict, "Improvements fail, too");
}

}  // namespace

void add_sweep_verbs(CLI::App& app, CommandLine& line) {
  add_sweep(app, line);
  add_merge(app, line);
  add_gate(app, line);
}

}  // namespace sim::cli

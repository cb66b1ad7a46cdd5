// sim/experiment/sweep.cpp: see sweep.h.
#include "sim/experiment/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "sim/base/random.h"
#include "sim/experiment/command.h"
#include "sim/experiment/interruption.h"
#include "sim/experiment/sweep_overrides.h"
#include "sim/experiment/sweep_seeds.h"
#include "sim/experiment/sweep_tables.h"
#include "sim/experiment/version.h"

namespace sim::experiment {
namespace {

SweepOutcome ended(SweepEnd end, std::string message) {
  SweepOutcome outcome;
  outcome.end = end;
  outcome.message = std::move(message);
  return outcome;
}

SweepOutcome refused(const FolderTrouble& trouble) {
  const bool holds = trouble.kind == FolderTrouble::Kind::kHoldsAnother;
  return ended(holds ? SweepEnd::kRefused : SweepEnd::kFileTrouble, trouble.message);
}

SweepEnd end_of(WorkersEnd end) {
  switch (end) {
    case WorkersEnd::kDone: return SweepEnd::kDone;
    case WorkersEnd::kTooManyFailures: return SweepEnd::kTooManyFailures;
    case WorkersEnd::kFileTrouble: return SweepEnd::kFileTrouble;
    case WorkersEnd::kBug: return SweepEnd::kBug;
    case WorkersEnd::kInterrupted: return SweepEnd::kInterrupted;
  }
  throw std::logic_error("workers ended in no known way");
}

std::uint64_t failed_in(const Journal& journal) {
  return static_cast<std::uint64_t>(
      std::ranges::count_if(journal.entries(), [](const auto& entry) { return entry.second.failed; }));
}

}  // namespace

std::string first_failure(const SweepPlan& plan, const Journal& journal) {
  const auto failed = std::ranges::find_if(journal.entries(), [](const auto& entry) { return entry.second.failed; });
  if (failed == journal.entries().end()) return "";
  const RunKey& key = failed->first;
  const std::string point = plan.name_of(key.point), &arm = plan.arm_name(key.arm);
  std::string command = fmt::format("atoll run {} --arm {} --seed {}", shell_quoted(plan.file), shell_quoted(arm), key.seed);
  for (const std::string& set : plan.sets) command += " --set " + shell_quoted(set);
  // For this arm alone: others that the sweep leaves out may be illegal there.
  for (const std::string& set : plan.sets_at(key.point)) command += " --set " + shell_quoted(for_arm(set, arm));
  return fmt::format("{}{}arm {}, seed {}: {}\n  repeat with: {} --results ''", point, point.empty() ? "" : ", ", arm,
                     key.seed, journal.row(key).reason, command);
}

namespace {

std::optional<FolderTrouble> write_tables(const SweepPlan& plan, const Shard& shard, const Journal& journal,
                                          const SweepFolder& folder) {
  if (auto trouble = folder.write_table(
          "runs.csv", [&](std::ostream& out) { write_runs_csv(plan, shard, journal, out); })) {
    return trouble;
  }
  return folder.write_table(
      "points.csv", [&](std::ostream& out) { write_points_csv(plan, shard, journal, out); });
}

class Sweep {
 public:
  Sweep(const SweepPlan& plan, const SweepSettings& settings)
      : plan_(plan), settings_(settings), folder_(settings.folder) {}

  SweepOutcome run() {
    const SweepRecord record = {version_text(), resolved_text(plan_), settings_.shard};
    if (const auto trouble = folder_.open(record, settings_.start)) return refused(*trouble);
    bool retry = settings_.retry_failed;
    std::optional<std::uint64_t> failed_before;  // what earlier commands left, and this one does not repeat
    while (true) {
      Journal journal;
      const std::string trouble = journal.read(folder_.journals(), sweep_hash(plan_), version_text());
      if (journal.foreign()) {
        return ended(SweepEnd::kRefused, trouble + "\n  hint: move it away, or --force begins again");
      }
      if (!trouble.empty()) return counted(ended(SweepEnd::kBug, trouble), journal);
      if (!failed_before) failed_before = retry ? 0 : failed_in(journal);
      const std::uint64_t failed_here = retry ? 0 : failed_in(journal) - *failed_before;
      const std::vector<RunKey> pending = next_runs(plan_, settings_.shard, journal, {retry});
      retry = false;
      if (pending.empty()) return finish(journal);
      const WorkersOutcome round = run_all(plan_, pending, workers(failed_here), watch_);
      if (round.end != WorkersEnd::kDone) return stopped(round);
    }
  }

 private:
  // With `failed` runs that failed in earlier rounds.
  WorkerSettings workers(std::uint64_t failed) {
    WorkerSettings workers{};
    workers.jobs = settings_.jobs;
    workers.journals = folder_.journals();
    workers.sweep = sweep_hash(plan_);
    workers.version = version_text();
    if (settings_.keep) workers.keep = folder_.path() + "/kept";
    workers.failures_max = settings_.failures_max - failed;
    workers.test = settings_.test;
    workers.in_worker = [this] { folder_.forget_lock(); };
    workers.on_progress = settings_.on_progress;
    return workers;
  }

  SweepOutcome counted(SweepOutcome outcome, const Journal& journal) const {
    outcome.runs = journal.entries().size();
    outcome.failed = failed_in(journal);
    return outcome;
  }

  SweepOutcome stopped(const WorkersOutcome& round) {
    Journal journal;
    journal.read(folder_.journals(), sweep_hash(plan_), version_text());
    SweepOutcome outcome = counted(ended(end_of(round.end), round.message), journal);
    outcome.signal_number = watch_.signal_number();
    return outcome;
  }

  SweepOutcome finish(const Journal& journal) {
    if (const auto trouble = write_tables(plan_, settings_.shard, journal, folder_)) {
      return counted(refused(*trouble), journal);
    }
    SweepOutcome outcome = counted(ended(SweepEnd::kDone, ""), journal);
    outcome.first_failure = first_failure(plan_, journal);
    return outcome;
  }

  const SweepPlan& plan_;
  const SweepSettings& settings_;
  SweepFolder folder_;
  InterruptionWatch watch_;
};

}  // namespace

std::string sweep_hash(const SweepPlan& plan) { return sweep_hash(resolved_text(plan)); }

std::string sweep_hash(const std::string& resolved) { return fmt::format("{:016x}", base::hash_name(0, resolved)); }

SweepOutcome run_sweep(const SweepPlan& plan, const SweepSettings& settings) {
  try {
    return Sweep(plan, settings).run();
  } catch (const std::system_error& error) {
    return ended(SweepEnd::kFileTrouble, error.what());
  }
}

}  // namespace sim::experiment

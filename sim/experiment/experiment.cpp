// sim/experiment/experiment.cpp: see experiment.h.
#include "sim/experiment/experiment.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "sim/experiment/child_process.h"
#include "sim/experiment/results_set.h"
#include "sim/experiment/simulate.h"
#include "sim/experiment/version.h"
#include "sim/report/summary.h"
#include "sim/scenario/load.h"
#include "sim/scenario/names.h"

namespace sim::experiment {
namespace {

// One run: its own copy of the scenario (the seed is part of it) and its folder.
struct Job {
  RunPlan plan;
  scenario::Scenario scenario;
  std::optional<ResultsFolder> folder;
};

// Given up from the last to the first: the first had to make the folders that all lie in, and can
// remove them only when it is alone there.
class Jobs {
 public:
  Jobs(const scenario::Scenario& scenario, const std::vector<RunPlan>& runs) {
    for (const RunPlan& plan : runs) {
      list.push_back({plan, scenario, std::nullopt});
      list.back().scenario.seed = plan.seed;
    }
  }
  Jobs(const Jobs&) = delete;
  ~Jobs() {
    while (!list.empty()) list.pop_back();
  }

  std::vector<Job> list;
};

void check(const scenario::Scenario& scenario, const ExperimentOptions& options) {
  if (options.jobs < 1 || options.threads < 1) {
    throw std::invalid_argument(fmt::format("jobs and threads must be at least 1; got {} and {}",
                                            options.jobs, options.threads));
  }
  for (const RunPlan& plan : options.runs) {
    if (plan.arm >= scenario.arms.size()) {
      throw std::invalid_argument(
          fmt::format("arm {} does not exist; there are {}", plan.arm, scenario.arms.size()));
    }
  }
}

const std::string& arm_name(const Job& job) {
  return job.scenario.arms[job.plan.arm].training.name;
}

// Below the results folder.
std::string path_of(const Job& job) {
  return fmt::format("{}/seed-{}", scenario::folder_name(arm_name(job)), job.plan.seed);
}

std::optional<FolderTrouble> open_folder(Job& job, const ExperimentOptions& options) {
  const std::string& arm = arm_name(job);
  job.folder.emplace(fmt::format("{}/{}", options.results_folder, path_of(job)));
  return job.folder->open(scenario::resolved_text(job.scenario, &arm), options.overwrite);
}

ChildBody body_of(const Job& job, const ExperimentOptions& options) {
  return [&job, &options](const ParentLink& progress) {
    SimulateRequest request{};
    request.scenario = &job.scenario;
    request.arm = job.plan.arm;
    request.seed = job.plan.seed;
    request.threads = options.threads;
    request.results_folder = job.folder ? job.folder->hidden_path() : "";
    request.record = options.record;
    request.resume = options.resume;
    request.progress = progress;
    request.abort_at_s = options.abort_at_s;
    return report::to_json(simulate(request));
  };
}

BugReport bug_report(const Job& job, const ExperimentOptions& options, const std::string& reason) {
  return {.scenario = job.scenario.name,
          .arm = arm_name(job),
          .version = version_text(),
          .reason = reason,
          .command = options.repeat_command ? options.repeat_command(job.plan) : "",
          .seed = job.plan.seed};
}

ExperimentOutcome refused(const FolderTrouble& trouble) {
  ExperimentOutcome outcome;
  outcome.end = trouble.kind == FolderTrouble::Kind::kHoldsAnother ? ExperimentEnd::kRefused
                                                                   : ExperimentEnd::kFileTrouble;
  outcome.message = trouble.message;
  return outcome;
}

// The user knows the folder by the name that it would have had.
std::string in_visible_folder(const Job& job, std::string reason) {
  if (!job.folder || job.folder->hidden_path().empty()) return reason;
  const std::string& hidden = job.folder->hidden_path();
  if (reason.starts_with(hidden)) reason.replace(0, hidden.size(), job.folder->path());
  return reason;
}

// All folders, or the reason why one cannot be had. Nothing that stands there is touched yet.
std::optional<FolderTrouble> open_folders(const scenario::Scenario& scenario, std::vector<Job>& jobs,
                                          ResultsSet& set, const ExperimentOptions& options) {
  std::vector<std::string> runs;
  for (const Job& job : jobs) runs.push_back(path_of(job));
  const std::string hash = fmt::format("{:016x}", scenario::set_hash(scenario));
  if (auto trouble = set.open(hash, version_text(), runs, options.overwrite)) return trouble;
  for (Job& job : jobs) {
    if (auto trouble = open_folder(job, options)) return trouble;
  }
  return std::nullopt;
}

// Publishes runs as they end and notes the first trouble.
class Progress {
 public:
  Progress(std::vector<Job>& jobs, ResultsSet& set, const ExperimentOptions& options)
      : jobs_(jobs), set_(set), options_(options) {}

  void on_end(std::size_t index, const ChildEnding& ending) {
    Job& job = jobs_[index];
    if (ending.kind == EndingKind::kReturned) {
      if (!job.folder) return;
      if (const auto trouble = set_.remove_old()) outcome_ = refused(*trouble);
      if (const auto trouble = job.folder->publish()) outcome_ = refused(*trouble);
      return;
    }
    if (outcome_.end != ExperimentEnd::kDone) return;
    if (ending.kind == EndingKind::kFileTrouble) {
      outcome_.end = ExperimentEnd::kFileTrouble;
      outcome_.message = in_visible_folder(job, ending.reason);
    } else if (ending.kind == EndingKind::kBug) {
      outcome_.end = ExperimentEnd::kBug;
      outcome_.message = format(bug_report(job, options_, ending.reason));
    }
  }

  ExperimentOutcome outcome(const std::vector<ChildEnding>& endings, int signal_number) {
    if (outcome_.end == ExperimentEnd::kDone && signal_number != 0) {
      outcome_.end = ExperimentEnd::kInterrupted;
      outcome_.signal_number = signal_number;
    }
    for (std::size_t i = 0; i < endings.size(); ++i) {
      if (endings[i].kind != EndingKind::kReturned) continue;
      outcome_.runs.push_back({jobs_[i].plan.arm, jobs_[i].plan.seed,
                               nlohmann::ordered_json::parse(endings[i].bytes)});
    }
    return std::move(outcome_);
  }

 private:
  std::vector<Job>& jobs_;
  ResultsSet& set_;
  const ExperimentOptions& options_;
  ExperimentOutcome outcome_;
};

}  // namespace

std::string format(const BugReport& bug) {
  return fmt::format(
      "bug: {}\n  scenario: {}\n  arm: {}\n  seed: {}\n  version: {}\n  repeat with: {}\n",
      bug.reason, bug.scenario, bug.arm, bug.seed, bug.version, bug.command);
}

ExperimentOutcome run_experiment(const scenario::Scenario& scenario,
                                 const ExperimentOptions& options) {
  check(scenario, options);
  InterruptionWatch watch;  // before the first hidden folder, so that a signal cannot leave one
  Jobs jobs(scenario, options.runs);
  ResultsSet set(options.results_folder);
  if (!options.results_folder.empty()) {
    if (const auto trouble = open_folders(scenario, jobs.list, set, options)) return refused(*trouble);
  }

  std::vector<ChildBody> bodies;
  for (const Job& job : jobs.list) bodies.push_back(body_of(job, options));
  Progress progress(jobs.list, set, options);
  const ChildPoolOptions pool = {
      .at_a_time = static_cast<std::size_t>(options.jobs),
      .on_progress = options.on_progress,
      .on_end = [&progress](std::size_t i, const ChildEnding& e) { progress.on_end(i, e); }};
  const std::vector<ChildEnding> endings = run_children(bodies, pool, watch);
  return progress.outcome(endings, watch.signal_number());
}

}  // namespace sim::experiment

// sim/experiment/slurm.cpp: see slurm.h.
#include "sim/experiment/slurm.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>

#include "sim/experiment/journal_count.h"
#include "sim/experiment/slurm_commands.h"
#include "sim/experiment/slurm_jobs.h"
#include "sim/experiment/slurm_script.h"
#include "sim/experiment/sweep_forecast.h"
#include "sim/experiment/ticker.h"
#include "sim/experiment/version.h"

namespace sim::experiment {
namespace {

namespace fs = std::filesystem;
using TaskNumbers = std::optional<std::set<std::uint64_t>>;  // nothing: Slurm does not say

constexpr std::uint64_t kShardsMax = 1000;  // Slurm's default MaxArraySize is 1,001
// Two minutes of looks: a shared file system shows other nodes' files late (NFS: up to a minute).
constexpr int kGoneLooks = 12;
// Ten minutes of them: a controller that is restarted answers again within a few (assumed).
constexpr int kSilentLooks = 60;

// The folder or one of its shards holds something else.
class SlurmRefusal : public std::runtime_error {
 public:
  SlurmRefusal(const std::string& folder, const std::string& what, const std::string& hint)
      : std::runtime_error(fmt::format("{}: error: {}\n  hint: {}", folder, what, hint)) {}
};

struct Task {
  std::uint64_t number;
  std::string folder;
  std::string job;  // job id that runs it now; empty: none
  int gone = 0, retries = 0;
  bool complete = false;
};

class Array {
 public:
  Array(const SweepPlan& plan, const SlurmSettings& settings)
      : plan_(plan), settings_(settings), text_(resolved_text(plan)), folder_(settings.folder),
        ticker_(settings.look_every_s) {}

  // Whatever ends it early, no task is left that nobody waits for.
  SweepOutcome run() {
    try {
      return submitted();
    } catch (const SlurmRefusal& refusal) {
      return stopped(SweepEnd::kRefused, refusal.what());
    } catch (const SlurmTrouble& trouble) {
      return stopped(SweepEnd::kFileTrouble, trouble.what());
    } catch (const std::system_error& error) {
      return stopped(SweepEnd::kFileTrouble, error.what());
    }
  }

 private:
  SweepOutcome submitted() {
    require_slurm();
    const auto before = read_jobs(folder_);
    const SweepStart start = settings_.force    ? SweepStart::kForce
                             : settings_.resume ? SweepStart::kResume
                                                : SweepStart::kFresh;
    if (const auto trouble = folder_.open(record_of({}), start, RowsIn::kShards)) return refusal(*trouble);
    if (settings_.force) remove_shards(before.value_or(SlurmJobs{}));
    if (watch_.signal_number() != 0) return stopped(SweepEnd::kInterrupted, "");
    choose_shards(settings_.resume ? before : std::nullopt);
    if (settings_.resume && before) adopt(*before);
    if (watch_.signal_number() == 0) submit_open();
    return waited();
  }

  SweepOutcome waited() {
    while (watch_.signal_number() == 0 && look()) {
      if (failed_ - failed_before_.value_or(0) >= settings_.failures_max) return stopped(SweepEnd::kTooManyFailures, "");
      ticker_.wait(watch_);
    }
    if (watch_.signal_number() != 0) return stopped(SweepEnd::kInterrupted, "");
    std::vector<std::string> folders;
    for (const Task& task : tasks_) folders.push_back(task.folder);
    return merge_into(plan_, folders, folder_);
  }

  static SweepOutcome refusal(const FolderTrouble& trouble) {
    SweepOutcome outcome;
    outcome.end = trouble.kind == FolderTrouble::Kind::kHoldsAnother ? SweepEnd::kRefused : SweepEnd::kFileTrouble;
    outcome.message = trouble.message;
    return outcome;
  }

  SweepOutcome stopped(SweepEnd end, const std::string& message) {
    for (const std::string& job : jobs_.jobs) cancel_job(job);
    SweepOutcome outcome;
    outcome.end = end;
    outcome.message = message;
    outcome.signal_number = watch_.signal_number();
    for (const auto& [number, count] : counts_) {
      outcome.runs += count.count().done;
      outcome.failed += count.count().failed;
    }
    return outcome;
  }

  SweepRecord record_of(const Shard& shard) const { return {version_text(), text_, shard}; }

  void note(const std::string& text) const {
    if (settings_.on_note) settings_.on_note(text);
  }

  // --- before the first job ---------------------------------------------------------------------

  // With --force; the lock is held, so no coordinator waits for them.
  void remove_shards(const SlurmJobs& before) {
    for (const std::string& job : before.jobs) cancel_job(job);
    for (const std::string& job : before.jobs) {
      for (TaskNumbers left = asked(job); watch_.signal_number() == 0 && (!left || !left->empty()); left = asked(job)) {
        ticker_.wait(watch_);
      }
    }
    if (watch_.signal_number() != 0) return;
    std::error_code ignored;
    std::vector<fs::path> found;
    for (fs::directory_iterator entry(settings_.folder, ignored), end; !ignored && entry != end; entry.increment(ignored)) {
      if (entry->path().filename().string().starts_with("shard-")) found.push_back(entry->path());
    }
    for (const fs::path& path : found) fs::remove_all(path, ignored);
  }

  void choose_shards(const std::optional<SlurmJobs>& before) {
    const std::uint64_t wanted = settings_.shards == 0 ? plan_.point_count() : settings_.shards;
    shards_ = std::clamp<std::uint64_t>(std::min(wanted, plan_.point_count()), 2, kShardsMax);
    if (before && settings_.shards == 0) shards_ = before->shards;
    if (before && before->shards != shards_) {
      throw SlurmRefusal(settings_.folder, fmt::format("was begun with {} shards; this is {}", before->shards, shards_),
                         fmt::format("go on with --shards {}, or --force begins again", before->shards));
    }
    jobs_.shards = shards_;
    for (std::uint64_t i = 1; i <= shards_; ++i) {
      Task task{i, fmt::format("{}/shard-{}-of-{}", settings_.folder, i, shards_), ""};
      is_ours(task);
      if (settings_.retry_failed && counts_[i].update(task.folder + "/journal").failed > 0) {
        fs::remove(task.folder + "/points.csv");  // it is not complete any more
      }
      tasks_.push_back(task);
    }
  }

  // False where nothing is yet. What is there counts only when it is of this sweep.
  bool is_ours(const Task& task) const {
    const auto held = read_record(task.folder);
    if (held && *held != record_of({task.number, shards_})) {
      throw SlurmRefusal(task.folder, "holds a shard of another sweep or version than " + settings_.folder,
                         "--force begins again, --results DIR writes elsewhere");
    }
    return held.has_value();
  }

  bool is_complete(const Task& task) const { return fs::exists(task.folder + "/points.csv") && is_ours(task); }

  // Tasks that a coordinator before us left in the queue.
  void adopt(const SlurmJobs& before) {
    for (const std::string& job : before.jobs) {
      jobs_.jobs.push_back(job);
      TaskNumbers tasks = asked(job);
      while (!tasks && watch_.signal_number() == 0) {
        ticker_.wait(watch_);
        tasks = asked(job);
      }
      if (tasks && tasks->empty()) jobs_.jobs.pop_back();
      if (!tasks || tasks->empty()) continue;
      for (Task& task : tasks_) {
        if (tasks->contains(task.number)) task.job = job;
      }
      note(fmt::format("job {}: shards {} of {} are still there", job, fmt::join(*tasks, ","), shards_));
    }
  }

  // --- jobs -------------------------------------------------------------------------------------

  // Shards that are not complete and in no job, as one array.
  void submit_open() {
    std::string list;
    for (const Task& task : tasks_) {
      if (!is_complete(task) && task.job.empty()) list += (list.empty() ? "" : ",") + std::to_string(task.number);
    }
    if (list.empty()) return;
    const std::string job = submit(list);
    for (Task& task : tasks_) {
      if (task.job.empty()) task.job = job;
    }
  }

  std::string submit(const std::string& list) {
    const std::string folder = settings_.folder + "/slurm", script = folder + "/shard.sh";
    fs::create_directories(folder);
    if (const auto trouble = folder_.write_file("slurm/shard.sh", task_script(settings_, shards_))) {
      throw SlurmTrouble(trouble->message + "\n  hint: --resume goes on");
    }
    const std::string job = submit_job(sbatch_words(settings_, list, folder, script));
    jobs_.jobs.push_back(job);
    write_jobs(jobs_, folder_);
    note(fmt::format("job {}: shards {} of {}", job, list, shards_));
    return job;
  }

  // The job's tasks; nothing while Slurm does not answer, which it may do for ten minutes on end.
  TaskNumbers asked(const std::string& job) {
    SlurmQueue queue = queue_of(job);
    if (queue.tasks) {
      silent_ = 0;
    } else if (++silent_ >= kSilentLooks) {
      throw SlurmTrouble(fmt::format("squeue: error: has failed for {}: {}\n  hint: the tasks are cancelled if scancel "
                                     "could reach Slurm; --resume goes on",
                                     duration_in_words(kSilentLooks * settings_.look_every_s), queue.errors));
    }
    return queue.tasks;
  }

  // Whether there is anything left to wait for.
  bool look() {
    std::map<std::string, TaskNumbers> queues;
    bool open = false, answers = true;
    SweepProgress progress{0, 0, 0};
    for (Task& task : tasks_) {
      if (!task.complete) task.complete = is_complete(task);
      const JournalCount& rows = counts_[task.number].update(task.folder + "/journal");
      progress.done += rows.done;
      progress.failed += rows.failed;
      if (task.complete) continue;
      open = true;
      if (answers && !queues.contains(task.job)) answers = queues.emplace(task.job, asked(task.job)).first->second.has_value();
      if (!answers) continue;
      const TaskNumbers& tasks = queues.at(task.job);
      task.gone = tasks->contains(task.number) ? 0 : task.gone + 1;
      if (task.gone >= kGoneLooks) queue_again(task);
    }
    failed_ = progress.failed;
    if (!failed_before_) failed_before_ = failed_;
    progress.all = std::max(progress.done, plan_.run_count());
    if (settings_.on_progress) settings_.on_progress(progress);
    return open;
  }

  void queue_again(Task& task) {
    if (++task.retries > settings_.retries) {
      throw SlurmTrouble(fmt::format("{}: error: shard {}/{} ended {} times without its tables\n  hint: see {}/slurm/shard-{}.log; --resume goes on",
                                     task.folder, task.number, shards_, task.retries, settings_.folder, task.number));
    }
    task.gone = 0;
    note(fmt::format("shard {}/{} is gone from the queue and not complete: queued again", task.number, shards_));
    if (!requeue_task(task.job, task.number)) task.job = submit(std::to_string(task.number));
  }

  const SweepPlan& plan_;
  const SlurmSettings& settings_;
  const std::string text_;
  SweepFolder folder_;
  Ticker ticker_;
  std::uint64_t shards_ = 0;
  std::vector<Task> tasks_;
  SlurmJobs jobs_;                               // those that may have tasks in the queue
  std::map<std::uint64_t, JournalCounter> counts_;
  std::optional<std::uint64_t> failed_before_;   // when the first look was
  std::uint64_t failed_ = 0;
  int silent_ = 0;                               // answers in a row that squeue did not give
  InterruptionWatch watch_;
};

}  // namespace

SweepOutcome run_on_slurm(const SweepPlan& plan, const SlurmSettings& settings) { return Array(plan, settings).run(); }

}  // namespace sim::experiment

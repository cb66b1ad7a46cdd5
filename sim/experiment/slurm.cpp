// sim/experiment/slurm.cpp: see slurm.h.
#include "sim/experiment/slurm.h"

#include <fmt/format.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <system_error>

#include "sim/experiment/command.h"
#include "sim/experiment/journal_count.h"
#include "sim/experiment/version.h"

namespace sim::experiment {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kShardsMax = 1000;  // Slurm's default MaxArraySize is 1,001
constexpr int kGoneLooks = 3;  // a task may be out of the queue for a moment before its files are seen

// What Slurm refused, for the user.
class SlurmTrouble : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Fires once a second; read by waiting for it together with the signals.
class Ticker {
 public:
  Ticker() : descriptor_(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC)) {
    const itimerspec once_a_second = {{1, 0}, {1, 0}};
    if (descriptor_ < 0 || timerfd_settime(descriptor_, 0, &once_a_second, nullptr) != 0) {
      throw std::system_error(errno, std::generic_category(), "timerfd");
    }
  }
  Ticker(const Ticker&) = delete;
  ~Ticker() { close(descriptor_); }

  void wait(InterruptionWatch& watch) {
    std::vector<pollfd> descriptors = {{descriptor_, POLLIN, 0}};
    watch.wait(descriptors);
    std::uint64_t ticks = 0;
    if (descriptors[0].revents != 0 && read(descriptor_, &ticks, sizeof ticks) < 0) errno = 0;
  }

 private:
  int descriptor_;
};

struct Task {
  std::uint64_t number;
  std::string job;  // job id that runs it now
  std::string folder;
  int gone = 0, retries = 0;
  bool complete = false;
};

std::string script(const SlurmSettings& s, std::uint64_t shards) {
  std::string command = shell_quoted(fs::read_symlink("/proc/self/exe").string()) + " sweep " + shell_quoted(s.file);
  for (const std::string& set : s.sets) command += " --set " + shell_quoted(set);
  if (!s.seeds.empty()) command += " --seeds " + s.seeds;
  if (s.until_ci) command += fmt::format(" --until-ci {}", *s.until_ci);
  if (s.metric) command += " --metric " + shell_quoted(*s.metric);
  command += fmt::format(" --results {} --jobs {} --resume --quiet --yes --shard \"$SLURM_ARRAY_TASK_ID/{}\"",
                         shell_quoted(s.results), s.cpus, shards);
  return fmt::format("#!/bin/sh\n# One shard of a sweep; queued again, it goes on where it was.\ncd {}\nexec {}\n",
                     shell_quoted(fs::current_path().string()), command);
}

class Array {
 public:
  Array(const SweepPlan& plan, const SlurmSettings& settings)
      : plan_(plan), settings_(settings), folder_(settings.folder) {
    const std::uint64_t wanted = settings.shards == 0 ? plan.point_count() : settings.shards;
    shards_ = std::clamp<std::uint64_t>(std::min(wanted, plan.point_count()), 2, kShardsMax);
    for (std::uint64_t i = 1; i <= shards_; ++i) {
      tasks_.push_back({i, "", fmt::format("{}/shard-{}-of-{}", settings.folder, i, shards_)});
    }
  }

  SweepOutcome run() {
    if (settings_.force) remove_shards();
    const SweepStart start = settings_.force    ? SweepStart::kForce
                             : settings_.resume ? SweepStart::kResume
                                                : SweepStart::kFresh;
    if (const auto trouble = folder_.open({version_text(), resolved_text(plan_), {}}, start)) {
      return refusal(*trouble);
    }
    submit_open();
    Ticker ticker;
    while (look() && watch_.signal_number() == 0) ticker.wait(watch_);
    if (watch_.signal_number() != 0) return cancelled();
    std::vector<std::string> folders;
    for (const Task& task : tasks_) folders.push_back(task.folder);
    return merge_into(folders, folder_);
  }

 private:
  static SweepOutcome refusal(const FolderTrouble& trouble) {
    SweepOutcome outcome;
    outcome.end = trouble.kind == FolderTrouble::Kind::kHoldsAnother ? SweepEnd::kRefused : SweepEnd::kFileTrouble;
    outcome.message = trouble.message;
    return outcome;
  }

  void remove_shards() const {
    std::error_code ignored;
    std::vector<fs::path> found;
    for (fs::directory_iterator entry(settings_.folder, ignored), end; !ignored && entry != end; entry.increment(ignored)) {
      if (entry->path().filename().string().starts_with("shard-")) found.push_back(entry->path());
    }
    for (const fs::path& path : found) fs::remove_all(path, ignored);
  }

  // Shards that are not complete yet, as one array.
  void submit_open() {
    std::string list;
    for (Task& task : tasks_) {
      task.complete = fs::exists(task.folder + "/points.csv");
      if (!task.complete) list += (list.empty() ? "" : ",") + std::to_string(task.number);
    }
    if (list.empty()) return;
    const std::string job = submit(list);
    for (Task& task : tasks_) task.job = job;
  }

  std::string submit(const std::string& list) {
    const std::string folder = settings_.folder + "/slurm", path = folder + "/shard.sh";
    fs::create_directories(folder);
    errno = 0;
    std::ofstream file(path, std::ios::binary);
    file << script(settings_, shards_);
    file.close();
    if (!file) throw std::system_error(errno == 0 ? EIO : errno, std::generic_category(), path + ": error: cannot be written");
    std::vector<std::string> words = {"sbatch", "--parsable", "--requeue", "--open-mode=append",
                                      "--job-name=atoll-sweep", "--array=" + list,
                                      fmt::format("--cpus-per-task={}", settings_.cpus),
                                      "--output=" + folder + "/shard-%a.log"};
    if (!settings_.time.empty()) words.push_back("--time=" + settings_.time);
    if (!settings_.memory.empty()) words.push_back("--mem=" + settings_.memory);
    words.insert(words.end(), settings_.options.begin(), settings_.options.end());
    words.push_back(path);
    const CommandResult told = run_command(words);
    if (told.exit_code != 0) {
      throw SlurmTrouble(told.exit_code == 127 ? "sbatch: error: cannot be started\n  hint: --executor slurm needs Slurm's commands on the PATH"
                                               : "sbatch: error: refused the job: " + told.output);
    }
    const std::string job = told.output.substr(0, told.output.find_first_of(";\n"));
    note(fmt::format("job {}: shards {} of {}", job, list, shards_));
    return job;
  }

  void note(const std::string& text) const {
    if (settings_.on_note) settings_.on_note(text);
  }

  // Task numbers that are in the queue, in whatever state, of one job.
  std::set<std::uint64_t> queued(const std::string& job) const {
    const CommandResult told = run_command({"squeue", "--noheader", "--array", "--jobs=" + job, "--format=%K"});
    std::set<std::uint64_t> numbers;
    if (told.exit_code != 0) return numbers;  // Slurm has forgotten the job: nothing of it is queued
    std::istringstream lines(told.output);
    for (std::uint64_t number = 0; lines >> number;) numbers.insert(number);
    return numbers;
  }

  // Whether there is anything left to wait for.
  bool look() {
    std::map<std::string, std::set<std::uint64_t>> queues;
    bool open = false;
    SweepProgress progress{0, 0, 0};
    for (Task& task : tasks_) {
      if (!task.complete) task.complete = fs::exists(task.folder + "/points.csv");
      const JournalCount& rows = counts_[task.number].update(task.folder + "/journal");
      progress.done += rows.done;
      progress.failed += rows.failed;
      if (task.complete) continue;
      open = true;
      if (!queues.contains(task.job)) queues[task.job] = queued(task.job);
      task.gone = queues[task.job].contains(task.number) ? 0 : task.gone + 1;
      if (task.gone >= kGoneLooks) queue_again(task);
    }
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
    const CommandResult told = run_command({"scontrol", "requeue", fmt::format("{}_{}", task.job, task.number)});
    if (told.exit_code != 0) task.job = submit(std::to_string(task.number));  // Slurm has forgotten the task
  }

  SweepOutcome cancelled() {
    std::set<std::string> jobs;
    for (const Task& task : tasks_) {
      if (!task.complete) jobs.insert(task.job);
    }
    for (const std::string& job : jobs) run_command({"scancel", job});
    SweepOutcome outcome;
    outcome.end = SweepEnd::kInterrupted;
    outcome.signal_number = watch_.signal_number();
    for (const auto& [number, count] : counts_) {
      outcome.runs += count.count().done;
      outcome.failed += count.count().failed;
    }
    return outcome;
  }

  const SweepPlan& plan_;
  const SlurmSettings& settings_;
  SweepFolder folder_;
  std::uint64_t shards_;
  std::vector<Task> tasks_;
  std::map<std::uint64_t, JournalCounter> counts_;
  InterruptionWatch watch_;
};

}  // namespace

SweepOutcome run_on_slurm(const SweepPlan& plan, const SlurmSettings& settings) {
  SweepOutcome outcome;
  outcome.end = SweepEnd::kFileTrouble;
  try {
    return Array(plan, settings).run();
  } catch (const SlurmTrouble& trouble) {
    outcome.message = trouble.what();
  } catch (const std::system_error& error) {
    outcome.message = error.what();
  }
  return outcome;
}

}  // namespace sim::experiment

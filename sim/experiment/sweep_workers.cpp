// sim/experiment/sweep_workers.cpp: see sweep_workers.h.
#include "sim/experiment/sweep_workers.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <new>
#include <system_error>
#include <utility>

#include "sim/experiment/child_process.h"
#include "sim/experiment/journal.h"
#include "sim/experiment/results_folder.h"
#include "sim/experiment/simulate.h"
#include "sim/experiment/stopwatch.h"

namespace sim::experiment {
namespace {

constexpr double kBatchSeconds = 0.5;  // assumed: what a kill may cost at most, beyond one run
constexpr double kWorthSeconds = 0.05;  // a few times what a fork costs
constexpr double kSyncSeconds = 1.0;

// What all workers share, in memory that fork does not copy.
struct Counters {
  std::atomic<std::uint64_t> next{0}, done{0}, failed{0};
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

class SharedCounters {
 public:
  SharedCounters() {
    void* const place = mmap(nullptr, sizeof(Counters), PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (place == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
    counters_ = new (place) Counters;
  }
  SharedCounters(const SharedCounters&) = delete;
  ~SharedCounters() { munmap(counters_, sizeof(Counters)); }
  Counters& operator*() { return *counters_; }

 private:
  Counters* counters_;
};

// A file trouble whose text is complete already.
class Trouble : public std::system_error {
 public:
  explicit Trouble(std::string text)
      : std::system_error(EIO, std::generic_category()), text_(std::move(text)) {}
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

// The scenario of the point that was asked for last.
class PointCache {
 public:
  explicit PointCache(const SweepPlan& plan) : plan_(plan) {}

  const scenario::LoadResult& at(std::uint64_t point) {
    if (!loaded_ || point_ != point) loaded_ = plan_.load_point(point);
    point_ = point;
    return *loaded_;
  }

 private:
  const SweepPlan& plan_;
  std::uint64_t point_ = 0;
  std::optional<scenario::LoadResult> loaded_;
};

void slow_repairs(scenario::Arm& arm, double factor) {
  for (chaos::FailureOptions& failure : arm.failures) failure.repair.mean_s *= factor;
}

// --- in the child -------------------------------------------------------------------------------

class Batch {
 public:
  Batch(const SweepPlan& plan, const WorkerSettings& settings, PointCache points)
      : plan_(plan), settings_(settings), points_(std::move(points)) {}

  // As many of `keys` as fit one process and half a second; at least one.
  std::string run(const RunKey* keys, std::size_t count, const ShareSink& progress) {
    std::vector<SweepRow> rows;
    Stopwatch since_start;
    for (std::size_t i = 0; i < count; ++i) {
      const bool engine = needs_engine(keys[i]);
      if (i > 0 && (engine || since_start.seconds() > kBatchSeconds)) break;
      progress_ = [&, i](double share) {
        progress((static_cast<double>(i) + share) / static_cast<double>(count));
      };
      rows.push_back(row_of(keys[i]));
      if (engine) break;
    }
    return to_bytes(rows);
  }

 private:
  bool needs_engine(const RunKey& key) {
    const auto& scenario = points_.at(key.point).scenario;
    return scenario && scenario->network.model == engine::NetworkModel::kSimgrid;
  }

  SweepRow row_of(const RunKey& key) {
    SweepRow row{key, "", "", "", ""};
    const scenario::LoadResult& loaded = points_.at(key.point);
    if (!loaded.scenario) {
      const base::Diagnostic& first = loaded.diagnostics.front();
      row.reason = fmt::format("not a legal scenario: {}{}{}", first.key, first.key.empty() ? "" : ": ",
                               first.message);
      return row;
    }
    scenario::Scenario scenario = *loaded.scenario;
    scenario.seed = key.seed;
    const std::size_t arm = plan_.arms[static_cast<std::size_t>(key.arm)];
    row.identity = run_identity(scenario, arm, key.seed, settings_.version);
    if (settings_.test.repair_factor != 1.0) {
      slow_repairs(scenario.arms[arm], settings_.test.repair_factor);
    }
    fill_from_summary(row, simulated(scenario, arm, key));
    return row;
  }

  nlohmann::ordered_json simulated(const scenario::Scenario& scenario, std::size_t arm,
                                   const RunKey& key) const {
    SimulateRequest request{};
    request.scenario = &scenario;
    request.arm = arm;
    request.seed = key.seed;
    request.threads = 1;
    request.progress = progress_;
    const SweepTestSwitches& test = settings_.test;
    if (!test.abort_seed || *test.abort_seed == key.seed) request.abort_at_s = test.abort_at_s;
    if (settings_.keep.empty()) return nlohmann::ordered_json::parse(report::to_json(simulate(request)));
    const std::string& name = scenario.arms[arm].training.name;
    ResultsFolder folder(fmt::format("{}/point-{}/{}/seed-{}", settings_.keep, key.point, name, key.seed));
    const auto told = [](const std::optional<FolderTrouble>& trouble) {
      if (trouble) throw Trouble(trouble->message);
    };
    told(folder.open(scenario::resolved_text(scenario, &name), Overwrite::kForce));
    request.results_folder = folder.hidden_path();
    auto summary = nlohmann::ordered_json::parse(report::to_json(simulate(request)));
    told(folder.publish());
    return summary;
  }

  const SweepPlan& plan_;
  const WorkerSettings& settings_;
  PointCache points_;
  std::function<void(double)> progress_;  // of the run at hand
};

// --- in a worker --------------------------------------------------------------------------------

class Worker {
 public:
  Worker(const SweepPlan& plan, const std::vector<RunKey>& pending, const WorkerSettings& settings,
         Counters& counters)
      : plan_(plan),
        pending_(pending),
        settings_(settings),
        counters_(counters),
        points_(plan),
        journal_(settings.journals, settings.sweep, settings.version) {}

  void work(const ShareSink& progress) {
    while (counters_.failed < settings_.failures_max) {
      const std::size_t size = share_size();
      const std::size_t first = static_cast<std::size_t>(counters_.next.fetch_add(size));
      if (first >= pending_.size()) break;
      const std::size_t last = std::min(first + size, pending_.size());
      Stopwatch since_start;
      if (!run_share(first, last, progress)) return;
      runs_per_s_ = static_cast<double>(last - first) / std::max(since_start.seconds(), 1e-6);
    }
    journal_.sync();
  }

 private:
  // Half a second's runs; towards the end fewer, so that no worker is left with all the rest, but enough
  // to be worth their fork.
  std::size_t share_size() const {
    const double all = static_cast<double>(pending_.size());
    const double left = std::max(0.0, all - static_cast<double>(counters_.next));
    const double wanted = std::max(std::min(runs_per_s_ * kBatchSeconds, left / (2.0 * settings_.jobs)),
                                   runs_per_s_ * kWorthSeconds);
    return static_cast<std::size_t>(std::max(wanted, 1.0));
  }

  // False after an interruption.
  bool run_share(std::size_t first, std::size_t last, const ShareSink& progress) {
    std::size_t alone_before = first;  // runs before this one get a child each
    while (first < last && counters_.failed < settings_.failures_max) {
      const std::size_t count = first < alone_before ? 1 : last - first;
      const ChildEnding ending = run_child(&pending_[first], count);
      switch (ending.kind) {
        case EndingKind::kReturned:
          for (const SweepRow& row : from_bytes(ending.bytes)) {
            append(row);
            ++first;
          }
          break;
        case EndingKind::kFileTrouble: throw Trouble(ending.reason);
        case EndingKind::kStopped: return false;
        case EndingKind::kBug:
          if (count == 1) append(failed_row(pending_[first++], ending.reason));
          alone_before = last;
      }
      progress(static_cast<double>(counters_.done) / static_cast<double>(pending_.size()));
    }
    return true;
  }

  ChildEnding run_child(const RunKey* keys, std::size_t count) {
    points_.at(keys->point);  // read before the fork: the next child may need it too
    const ChildBody body = [&](const ShareSink& progress) {
      return Batch(plan_, settings_, points_).run(keys, count, progress);
    };
    // A long run must not keep the rows before it from the disk.
    return run_children({body}, {1, [this](double) { sync_if_due(); }, nullptr}, watch_).front();
  }

  SweepRow failed_row(const RunKey& key, const std::string& reason) {
    SweepRow row{key, "", reason, "", ""};
    const auto& scenario = points_.at(key.point).scenario;
    if (scenario) {
      row.identity = run_identity(*scenario, plan_.arms[static_cast<std::size_t>(key.arm)], key.seed,
                                  settings_.version);
    }
    return row;
  }

  void append(const SweepRow& row) {
    journal_.append(row);
    ++counters_.done;
    if (!row.reason.empty()) ++counters_.failed;
    unsynced_ = true;
    sync_if_due();
  }

  void sync_if_due() {
    if (!unsynced_ || since_sync_.seconds() < kSyncSeconds) return;
    journal_.sync();
    unsynced_ = false;
    since_sync_.restart();
  }

  const SweepPlan& plan_;
  const std::vector<RunKey>& pending_;
  const WorkerSettings& settings_;
  Counters& counters_;
  PointCache points_;
  JournalWriter journal_;
  InterruptionWatch watch_;
  Stopwatch since_sync_;
  bool unsynced_ = false;
  double runs_per_s_ = 0;
};

// --- in the parent ------------------------------------------------------------------------------

WorkersOutcome outcome_of(const std::vector<ChildEnding>& endings) {
  for (const ChildEnding& ending : endings) {
    if (ending.kind == EndingKind::kFileTrouble) return {WorkersEnd::kFileTrouble, ending.reason};
    if (ending.kind == EndingKind::kBug) return {WorkersEnd::kBug, "a worker of the sweep: " + ending.reason};
  }
  return {WorkersEnd::kDone, ""};
}

}  // namespace

WorkersOutcome run_all(const SweepPlan& plan, const std::vector<RunKey>& pending,
                       const WorkerSettings& settings, InterruptionWatch& watch) {
  SharedCounters shared;
  Counters& counters = *shared;
  const std::size_t jobs = std::min<std::size_t>(static_cast<std::size_t>(settings.jobs), pending.size());
  const ChildBody body = [&](const ShareSink& progress) {
    if (settings.in_worker) settings.in_worker();
    Worker(plan, pending, settings, counters).work(progress);
    return std::string();
  };
  ChildPoolOptions pool = {.at_a_time = std::max<std::size_t>(jobs, 1), .on_progress = {}, .on_end = {}};
  if (settings.on_progress) {
    pool.on_progress = [&](double) {
      settings.on_progress({counters.done, counters.failed, pending.size()});
    };
  }
  const WorkersOutcome outcome =
      outcome_of(run_children(std::vector<ChildBody>(jobs, body), pool, watch));
  if (outcome.end != WorkersEnd::kDone) return outcome;
  if (watch.signal_number() != 0) return {WorkersEnd::kInterrupted, ""};
  if (counters.failed >= settings.failures_max) return {WorkersEnd::kTooManyFailures, ""};
  return outcome;
}

}  // namespace sim::experiment

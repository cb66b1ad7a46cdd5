// sim/experiment/sweep_workers.cpp: see sweep_workers.h.
#include "sim/experiment/sweep_workers.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "sim/experiment/child_process.h"
#include "sim/experiment/journal.h"
#include "sim/experiment/shared_memory.h"
#include "sim/experiment/stopwatch.h"
#include "sim/experiment/sweep_child.h"
#include "sim/experiment/told_trouble.h"

namespace sim::experiment {
namespace {

constexpr double kSyncSeconds = 1.0;

static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

// --- in a worker --------------------------------------------------------------------------------

class Worker {
 public:
  Worker(const SweepPlan& plan, const std::vector<RunKey>& pending, const WorkerSettings& settings,
         SweepCounters& counters, const ParentLink& parent)
      : plan_(plan),
        pending_(pending),
        settings_(settings),
        counters_(counters),
        parent_(parent),
        journal_(settings.journals, settings.sweep, settings.version) {}

  void work() {
    std::optional<std::uint64_t> again;
    while (again || (counters_.failed < settings_.failures_max && counters_.next < pending_.size())) {
      const ChildEnding ending = run_child(again);
      const bool alone = std::exchange(again, std::nullopt).has_value() || rows_ == 0;
      if (ending.kind == EndingKind::kFileTrouble) throw ToldTrouble(ending.reason);
      if (ending.kind == EndingKind::kStopped) return;
      if (ending.kind != EndingKind::kBug) continue;
      const std::uint64_t index = died_at();
      if (index == kNoRun && rows_ > 0) continue;  // killed between two runs: the next process goes on
      if (index == kNoRun) throw std::runtime_error("before its first run: " + ending.reason);
      // What came before it in that process may be to blame: it is done again in one of its own.
      if (alone) {
        append(failed_row(pending_[static_cast<std::size_t>(index)], ending.reason));
      } else {
        again = index;
      }
    }
    journal_.sync();
  }

 private:
  ChildEnding run_child(std::optional<std::uint64_t> only) {
    rows_ = 0;
    *at_hand_ = kNoRun;
    const ChildBody body = [&](const ParentLink& parent) {
      make_runs({plan_, pending_, settings_, counters_, *at_hand_, only}, parent);
      return std::string();
    };
    // A long run must not keep the rows before it from the disk.
    const ChildPoolOptions pool = {.at_a_time = 1,
                                   .on_progress = [this](double) { sync_if_due(); },
                                   .on_end = nullptr,
                                   .on_part = [this](std::size_t, const std::string& part) { take(part); }};
    return run_children({body}, pool, watch_).front();
  }

  void take(const std::string& part) {
    const SweepRow row = row_from_bytes(part);
    append(row);
    last_key_ = row.key;
    ++rows_;
  }

  // The run that the dead process had begun and given no row of, or kNoRun.
  std::uint64_t died_at() {
    const std::uint64_t index = *at_hand_;
    if (index == kNoRun || (rows_ > 0 && pending_[static_cast<std::size_t>(index)] == last_key_)) return kNoRun;
    return index;
  }

  SweepRow failed_row(const RunKey& key, const std::string& reason) {
    SweepRow row{key, "", reason, "", ""};
    const auto& scenario = plan_.load_point(key.point).scenario;
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
    parent_(static_cast<double>(counters_.done) / static_cast<double>(pending_.size()));
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
  SweepCounters& counters_;
  const ParentLink& parent_;
  JournalWriter journal_;
  InterruptionWatch watch_;
  Stopwatch since_sync_;
  bool unsynced_ = false;
  Shared<std::atomic<std::uint64_t>> at_hand_;
  std::uint64_t rows_ = 0;  // that the process at hand has given
  RunKey last_key_{};       // of the last of them
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
  Shared<SweepCounters> shared;
  SweepCounters& counters = *shared;
  const std::size_t jobs = std::min<std::size_t>(static_cast<std::size_t>(settings.jobs), pending.size());
  const ChildBody body = [&](const ParentLink& parent) {
    if (settings.in_worker) settings.in_worker();
    Worker(plan, pending, settings, counters, parent).work();
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

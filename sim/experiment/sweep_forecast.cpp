// sim/experiment/sweep_forecast.cpp: see sweep_forecast.h.
#include "sim/experiment/sweep_forecast.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <set>
#include <sstream>
#include <system_error>

#include "sim/experiment/child_process.h"
#include "sim/experiment/shared_memory.h"
#include "sim/experiment/simulate.h"
#include "sim/experiment/stopwatch.h"
#include "sim/experiment/sweep_row.h"
#include "sim/experiment/temporary_folder.h"

namespace sim::experiment {
namespace {

constexpr unsigned kTrialSeconds = 5;   // assumed: patience
constexpr std::uint64_t kArmsTried = 4;
constexpr double kOverhead = 0.0007;    // seconds beside the run itself, measured by tests/bench/sweep_on_two_cores

// What a parent can see of a trial that was ended.
class SharedState {
 public:
  void set_share(double share) { state_->millionths = static_cast<std::uint64_t>(share * 1e6); }
  double share() const { return static_cast<double>(state_->millionths) / 1e6; }
  bool cut() const { return state_->cut; }

  // In the child: after `seconds` it is ended, and cut() is true.
  void cut_after(unsigned seconds) {
    cut_ = &state_->cut;
    signal(SIGALRM, [](int number) {
      *cut_ = true;
      signal(number, SIG_DFL);
      raise(number);
    });
    alarm(seconds);
  }

 private:
  struct State {
    std::atomic<std::uint64_t> millionths{0};
    std::atomic<bool> cut{false};
  };
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

  Shared<State> state_;
  static inline std::atomic<bool>* cut_ = nullptr;  // for the handler, in a child of its own
};

struct Trial {
  double seconds;
  double row_bytes, kept_bytes;  // 0: was cut before there was a row
};

double size_of_files(const std::string& folder) {
  std::uintmax_t bytes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) bytes += entry.file_size();
  }
  return static_cast<double>(bytes);
}

// In the child. The three numbers of a Trial, or "" for a scenario that is not legal.
std::string trial_text(const SweepPlan& plan, const RunKey& key, const std::string& kept_folder,
                       SharedState& state) {
  const scenario::LoadResult loaded = plan.load_point(key.point);
  if (!loaded.scenario) return "";
  SimulateRequest request{};
  request.scenario = &*loaded.scenario;
  request.arm = plan.arms[static_cast<std::size_t>(key.arm)];
  request.seed = key.seed;
  request.threads = 1;
  request.progress = [&](double done) { state.set_share(done); };
  request.results_folder = kept_folder;
  SweepRow row{key, "", "", "", ""};
  Stopwatch watch;
  const std::string text = report::to_json(simulate(request));
  const double seconds = watch.seconds();
  fill_from_summary(row, nlohmann::ordered_json::parse(text));
  double kept_bytes = 0;
  if (!kept_folder.empty()) {
    const std::string& arm = loaded.scenario->arms[request.arm].training.name;
    kept_bytes = size_of_files(kept_folder) + static_cast<double>(scenario::resolved_text(*loaded.scenario, &arm).size());
  }
  return fmt::format("{} {} {}", seconds, row.values.size(), kept_bytes);
}

// Nothing when it crashed or is no legal scenario.
std::optional<Trial> try_run(const SweepPlan& plan, const RunKey& key, KeptRuns kept, InterruptionWatch& watch) {
  SharedState state;
  std::optional<TemporaryFolder> folder;
  if (kept == KeptRuns::kAll) folder.emplace("atoll-trial-");
  const std::string path = folder ? folder->path() : "";
  const ChildBody body = [&](const ParentLink&) {
    state.cut_after(kTrialSeconds);
    return trial_text(plan, key, path, state);
  };
  const ChildEnding ending = run_children({body}, {1, nullptr, nullptr}, watch).front();
  if (ending.kind == EndingKind::kFileTrouble) {
    throw std::system_error(EIO, std::generic_category(), path + ": error: cannot be written: " + ending.reason);
  }
  if (state.cut()) return Trial{kTrialSeconds / std::max(state.share(), 1e-3), 0, 0};
  if (ending.kind != EndingKind::kReturned || ending.bytes.empty()) return std::nullopt;
  std::istringstream numbers(ending.bytes);
  Trial trial{};
  numbers >> trial.seconds >> trial.row_bytes >> trial.kept_bytes;
  return trial;
}

std::set<std::uint64_t> points_tried(const SweepPlan& plan, const Shard& shard) {
  const std::uint64_t count = plan.point_count(), first = shard.number - 1;
  if (first >= count) return {};
  const std::uint64_t here = (count - first - 1) / shard.count + 1;
  return {first, first + here / 2 * shard.count % (here * shard.count), first + (here - 1) * shard.count};
}

}  // namespace

SweepForecast forecast(const SweepPlan& plan, const Shard& shard, KeptRuns kept, InterruptionWatch& watch) {
  const std::uint64_t count = plan.point_count(), first = shard.number - 1;
  SweepForecast told{};
  told.points = first < count ? (count - first - 1) / shard.count + 1 : 0;
  told.runs = told.points * plan.arms.size() * plan.seeds_first();
  double seconds = 0, row_bytes = 0, kept_bytes = 0, rows = 0;
  for (const std::uint64_t point : points_tried(plan, shard)) {
    for (std::uint64_t arm = 0; arm < std::min<std::uint64_t>(plan.arms.size(), kArmsTried); ++arm) {
      const auto trial = try_run(plan, {point, arm, plan.seeds.front()}, kept, watch);
      if (watch.signal_number() != 0) return told;
      ++(trial ? told.trials : told.untried);
      if (!trial) continue;
      seconds += trial->seconds;
      if (trial->row_bytes == 0) continue;
      row_bytes += trial->row_bytes;
      kept_bytes += trial->kept_bytes;
      rows += 1;
    }
  }
  if (told.trials > 0) told.run_seconds = seconds / static_cast<double>(told.trials) + kOverhead;
  // A row stands in the journal and in runs.csv; points.csv has about 60 lines of 150 bytes an arm.
  constexpr double kRowBytesAssumed = 900, kLineBytes = 150, kLines = 60;
  const double a_run = rows > 0 ? (2 * row_bytes + kept_bytes) / rows : 2 * kRowBytesAssumed;
  told.kept_unknown = kept == KeptRuns::kAll && rows == 0;
  told.bytes = a_run * static_cast<double>(told.runs) +
               kLineBytes * kLines * static_cast<double>(told.points * plan.arms.size());
  return told;
}

std::string duration_in_words(double seconds) {
  if (seconds < 100) return fmt::format("{:.0f} s", seconds);
  if (seconds < 100 * 60) return fmt::format("{:.0f} min", seconds / 60);
  if (seconds < 48 * 3600) return fmt::format("{:.1f} h", seconds / 3600);
  return fmt::format("{:.1f} d", seconds / 86400);
}

std::string bytes_in_words(double bytes) {
  if (bytes < 1e6) return fmt::format("{:.0f} kB", bytes / 1e3);
  if (bytes < 1e9) return fmt::format("{:.0f} MB", bytes / 1e6);
  return fmt::format("{:.1f} GB", bytes / 1e9);
}

}  // namespace sim::experiment

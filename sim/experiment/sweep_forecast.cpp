// sim/experiment/sweep_forecast.cpp: see sweep_forecast.h.
#include "sim/experiment/sweep_forecast.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <new>
#include <set>
#include <system_error>

#include "sim/experiment/child_process.h"
#include "sim/experiment/simulate.h"
#include "sim/experiment/stopwatch.h"
#include "sim/experiment/sweep_row.h"

namespace sim::experiment {
namespace {

constexpr unsigned kTrialSeconds = 5;   // assumed: patience
constexpr std::uint64_t kArmsTried = 4;
constexpr double kOverhead = 0.003;     // seconds beside the run itself, measured by tests/cli/sweep_speed_test.cpp

// How far a trial is, in millionths, where its parent can see it after the trial was ended.
class SharedShare {
 public:
  SharedShare() {
    void* const place = mmap(nullptr, sizeof(Share), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (place == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
    share_ = new (place) Share{0};
  }
  SharedShare(const SharedShare&) = delete;
  ~SharedShare() { munmap(share_, sizeof(Share)); }
  void set(double share) { *share_ = static_cast<std::uint64_t>(share * 1e6); }
  double get() const { return static_cast<double>(*share_) / 1e6; }

 private:
  using Share = std::atomic<std::uint64_t>;
  Share* share_;
};

struct Trial {
  double seconds, row_bytes;  // no row: 0
};

Trial try_run(const SweepPlan& plan, const RunKey& key, InterruptionWatch& watch) {
  SharedShare share;
  const ChildBody body = [&](const ParentLink&) {
    alarm(kTrialSeconds);
    const scenario::LoadResult loaded = plan.load_point(key.point);
    if (!loaded.scenario) return std::string();
    SimulateRequest request{};
    request.scenario = &*loaded.scenario;
    request.arm = plan.arms[static_cast<std::size_t>(key.arm)];
    request.seed = key.seed;
    request.threads = 1;
    request.progress = [&](double done) { share.set(done); };
    SweepRow row{key, "", "", "", ""};
    Stopwatch watch_run;
    const std::string text = report::to_json(simulate(request));
    const double seconds = watch_run.seconds();
    fill_from_summary(row, nlohmann::ordered_json::parse(text));
    return fmt::format("{} {}", seconds, row.values.size());
  };
  const ChildEnding ending = run_children({body}, {1, nullptr, nullptr}, watch).front();
  Trial trial{kTrialSeconds / std::max(share.get(), 1e-3), 0};
  if (ending.kind == EndingKind::kReturned && !ending.bytes.empty()) {
    std::size_t used = 0;
    trial.seconds = std::stod(ending.bytes, &used);
    trial.row_bytes = std::stod(ending.bytes.substr(used));
  }
  return trial;
}

std::set<std::uint64_t> points_tried(const SweepPlan& plan, const Shard& shard) {
  const std::uint64_t count = plan.point_count(), first = shard.number - 1;
  if (first >= count) return {};
  const std::uint64_t here = (count - first - 1) / shard.count + 1;
  return {first, first + here / 2 * shard.count % (here * shard.count), first + (here - 1) * shard.count};
}

}  // namespace

SweepForecast forecast(const SweepPlan& plan, const Shard& shard, InterruptionWatch& watch) {
  const std::uint64_t count = plan.point_count(), first = shard.number - 1;
  SweepForecast told{};
  told.points = first < count ? (count - first - 1) / shard.count + 1 : 0;
  told.runs = told.points * plan.arms.size() * plan.seeds.size();
  double seconds = 0, bytes = 0, rows = 0;
  for (const std::uint64_t point : points_tried(plan, shard)) {
    for (std::uint64_t arm = 0; arm < std::min<std::uint64_t>(plan.arms.size(), kArmsTried); ++arm) {
      const Trial trial = try_run(plan, {point, arm, plan.seeds.front()}, watch);
      if (watch.signal_number() != 0) return told;
      ++told.trials;
      seconds += trial.seconds;
      if (trial.row_bytes > 0) bytes += trial.row_bytes, rows += 1;
    }
  }
  if (told.trials > 0) told.run_seconds = seconds / static_cast<double>(told.trials) + kOverhead;
  // A row stands in the journal and in runs.csv; points.csv has about 60 lines of 150 bytes an arm.
  constexpr double kRowBytesAssumed = 900, kLineBytes = 150, kLines = 60;
  const double row_bytes = rows > 0 ? bytes / rows : kRowBytesAssumed;
  told.bytes = 2 * row_bytes * static_cast<double>(told.runs) +
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

// sim/experiment/sweep_child.cpp: see sweep_child.h.
#include "sim/experiment/sweep_child.h"

#include <fmt/format.h>
#include <malloc.h>

#include <cstdlib>

#include "sim/experiment/results_folder.h"
#include "sim/experiment/simulate.h"
#include "sim/experiment/sweep_row.h"
#include "sim/experiment/told_trouble.h"
#include "sim/scenario/names.h"

namespace sim::experiment {
namespace {

void slow_repairs(scenario::Arm& arm, double factor) {
  for (chaos::FailureOptions& failure : arm.failures) failure.repair.mean_s *= factor;
}

// Giving memory back after each run and asking for it again costs a page fault per page, and faults of
// two processes hinder each other; the next run needs as much again.
void keep_freed_memory() {
  constexpr int kMostThatMmapAllows = 32 << 20, kNever = 1 << 30;
  mallopt(M_MMAP_THRESHOLD, kMostThatMmapAllows);
  mallopt(M_TRIM_THRESHOLD, kNever);
}

class SweepChild {
 public:
  SweepChild(const SweepWork& work, const ParentLink& parent) : work_(work), parent_(parent) {}

  void make_all() {
    keep_freed_memory();
    while (const auto index = take()) {
      work_.at_hand = *index;
      if (work_.settings.test.abort_unless_first && made_++ > 0) std::abort();
      const RunKey& key = work_.pending[static_cast<std::size_t>(*index)];
      parent_.send(to_bytes(row_of(key)));
      work_.at_hand = kNoRun;
      if (work_.only || needs_engine(key)) return;
    }
  }

 private:
  std::optional<std::uint64_t> take() {
    if (work_.only) return work_.only;
    if (work_.counters.failed >= work_.settings.failures_max) return {};
    const std::uint64_t index = work_.counters.next.fetch_add(1);
    if (index >= work_.pending.size()) return {};
    return index;
  }

  const scenario::LoadResult& point_of(const RunKey& key) {
    if (!loaded_ || point_ != key.point) loaded_ = work_.plan.load_point(key.point);
    point_ = key.point;
    return *loaded_;
  }

  bool needs_engine(const RunKey& key) {
    const auto& scenario = point_of(key).scenario;
    return scenario && scenario->network.model == engine::NetworkModel::kSimgrid;
  }

  SweepRow row_of(const RunKey& key) {
    SweepRow row{key, "", "", "", ""};
    const scenario::LoadResult& loaded = point_of(key);
    if (!loaded.scenario) {
      const base::Diagnostic& first = loaded.diagnostics.front();
      row.reason = fmt::format("not a legal scenario: {}{}{}", first.key, first.key.empty() ? "" : ": ",
                               first.message);
      return row;
    }
    scenario::Scenario scenario = *loaded.scenario;
    scenario.seed = key.seed;
    const std::size_t arm = work_.plan.arms[static_cast<std::size_t>(key.arm)];
    row.identity = run_identity(scenario, arm, key.seed, work_.settings.version);
    const double factor = work_.settings.test.repair_factor;
    if (factor != 1.0) slow_repairs(scenario.arms[arm], factor);
    fill_from_summary(row, simulated(scenario, arm, key));
    return row;
  }

  nlohmann::ordered_json simulated(const scenario::Scenario& scenario, std::size_t arm, const RunKey& key) const {
    SimulateRequest request{};
    request.scenario = &scenario;
    request.arm = arm;
    request.seed = key.seed;
    request.threads = 1;
    request.progress = parent_;
    const SweepTestSwitches& test = work_.settings.test;
    if (!test.abort_seed || *test.abort_seed == key.seed) request.abort_at_s = test.abort_at_s;
    const std::string& keep = work_.settings.keep;
    if (keep.empty()) return nlohmann::ordered_json::parse(report::to_json(simulate(request)));
    const std::string& name = scenario.arms[arm].training.name;
    ResultsFolder folder(fmt::format("{}/point-{}/{}/seed-{}", keep, key.point, scenario::folder_name(name),
                                     key.seed));
    const auto told = [](const std::optional<FolderTrouble>& trouble) {
      if (trouble) throw ToldTrouble(trouble->message);
    };
    told(folder.open(scenario::resolved_text(scenario, &name), Overwrite::kForce));
    request.results_folder = folder.hidden_path();
    auto summary = nlohmann::ordered_json::parse(report::to_json(simulate(request)));
    told(folder.publish());
    return summary;
  }

  const SweepWork& work_;
  const ParentLink& parent_;
  std::uint64_t made_ = 0;
  std::uint64_t point_ = 0;  // the point loaded last
  std::optional<scenario::LoadResult> loaded_;
};

}  // namespace

void make_runs(const SweepWork& work, const ParentLink& parent) { SweepChild(work, parent).make_all(); }

}  // namespace sim::experiment

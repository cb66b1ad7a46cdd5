// sim/experiment/sweep_seeds.cpp: see sweep_seeds.h.
#include "sim/experiment/sweep_seeds.h"

#include <algorithm>
#include <string>

#include "sim/experiment/statistics.h"

namespace sim::experiment {
namespace {

constexpr double kPoint = 0.01;

std::uint64_t looks(const SweepPlan& plan) {
  const auto first = static_cast<std::int64_t>(plan.seeds.size());
  const std::int64_t more = std::max<std::int64_t>(0, plan.options.seeds_max - first);
  return static_cast<std::uint64_t>(1 + (more + plan.options.seeds_block - 1) / plan.options.seeds_block);
}

// Place of the metric in each list of names, or npos.
std::vector<std::size_t> metric_places(const SweepPlan& plan, const Journal& journal) {
  std::vector<std::size_t> places;
  for (const std::string& text : journal.names()) {
    const auto names = nlohmann::ordered_json::parse(text).get<std::vector<std::string>>();
    const auto found = std::ranges::find(names, "n " + plan.options.metric);
    places.push_back(found == names.end() ? std::string::npos
                                          : static_cast<std::size_t>(found - names.begin()));
  }
  return places;
}

bool all_done(const SweepPlan& plan, const Journal& journal, std::uint64_t point, std::uint64_t seeds) {
  for (std::uint64_t arm = 0; arm < plan.arms.size(); ++arm) {
    for (std::uint64_t i = 0; i < seeds; ++i) {
      if (!journal.entries().contains({point, arm, plan.seed_at(i)})) return false;
    }
  }
  return true;
}

bool narrow(const SweepPlan& plan, const Journal& journal, std::uint64_t point, std::uint64_t seeds) {
  for (std::uint64_t arm = 0; arm < plan.arms.size(); ++arm) {
    const std::vector<double> values = metric_values(plan, journal, point, arm, seeds);
    if (values.size() < 2) return false;
    const Estimate found = estimate(values, interval_confidence(plan));
    if (*found.half_width > plan.options.until_ci * kPoint) return false;
  }
  return true;
}

}  // namespace

double interval_confidence(const SweepPlan& plan) {
  if (plan.options.until_ci == 0) return 0.95;
  return 1.0 - 0.05 / static_cast<double>(looks(plan));
}

std::vector<double> metric_values(const SweepPlan& plan, const Journal& journal, std::uint64_t point,
                                  std::uint64_t arm, std::uint64_t seeds) {
  const std::vector<std::size_t> places = metric_places(plan, journal);
  std::vector<double> values;
  for (std::uint64_t i = 0; i < seeds; ++i) {
    const auto found = journal.entries().find({point, arm, plan.seed_at(i)});
    if (found == journal.entries().end() || found->second.failed) continue;
    const std::size_t place = places[found->second.names];
    if (place == std::string::npos) continue;
    const nlohmann::ordered_json value = journal.row(found->first).values.at(place);
    if (value.is_number()) values.push_back(value.get<double>());
  }
  return values;
}

bool metric_known(const SweepPlan& plan, const Journal& journal) {
  if (journal.names().empty()) return true;
  return std::ranges::any_of(metric_places(plan, journal),
                             [](std::size_t place) { return place != std::string::npos; });
}

std::uint64_t seeds_wanted(const SweepPlan& plan, const Journal& journal, std::uint64_t point) {
  std::uint64_t seeds = plan.seeds.size();
  const auto most = static_cast<std::uint64_t>(plan.options.seeds_max);
  while (plan.options.until_ci > 0 && seeds < most && all_done(plan, journal, point, seeds) &&
         !narrow(plan, journal, point, seeds)) {
    seeds = std::min(most, seeds + static_cast<std::uint64_t>(plan.options.seeds_block));
  }
  return seeds;
}

void visit_runs(const SweepPlan& plan, const Shard& shard, const Journal& journal,
                const std::function<void(const RunKey&, const Journal::Entry*)>& on_run) {
  const std::uint64_t points = plan.point_count();
  for (std::uint64_t point = shard.number - 1; point < points; point += shard.count) {
    const std::uint64_t seeds = seeds_wanted(plan, journal, point);
    for (std::uint64_t arm = 0; arm < plan.arms.size(); ++arm) {
      for (std::uint64_t i = 0; i < seeds; ++i) {
        const RunKey key = {point, arm, plan.seed_at(i)};
        const auto found = journal.entries().find(key);
        on_run(key, found == journal.entries().end() ? nullptr : &found->second);
      }
    }
  }
}

std::vector<RunKey> next_runs(const SweepPlan& plan, const Shard& shard, const Journal& journal,
                              const NextRuns& options) {
  std::vector<RunKey> runs;
  visit_runs(plan, shard, journal, [&](const RunKey& key, const Journal::Entry* entry) {
    const bool done = entry != nullptr && !(options.retry_failed && entry->failed);
    if (!done) runs.push_back(key);
  });
  return runs;
}

}  // namespace sim::experiment

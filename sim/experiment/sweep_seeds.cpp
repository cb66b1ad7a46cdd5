// sim/experiment/sweep_seeds.cpp: see sweep_seeds.h.
#include "sim/experiment/sweep_seeds.h"

#include <algorithm>
#include <string>

#include "sim/experiment/statistics.h"

namespace sim::experiment {
namespace {

constexpr double kPoint = 0.01;

std::uint64_t looks(const SweepPlan& plan) {
  const auto first = static_cast<std::int64_t>(plan.seeds_first());
  const std::int64_t more = std::max<std::int64_t>(0, plan.options.seeds_max - first);
  return static_cast<std::uint64_t>(1 + (more + plan.options.seeds_block - 1) / plan.options.seeds_block);
}

// The metric of each arm of one point, over more and more seeds; a row is read once.
class PointMetric {
 public:
  PointMetric(const SweepPlan& plan, const Journal& journal, std::uint64_t point)
      : plan_(plan),
        journal_(journal),
        places_(journal.places_of(plan.options.metric)),
        point_(point),
        values_(plan.arms.size()) {}

  // False when a run of them is missing.
  bool extend(std::uint64_t seeds) {
    for (; seeds_ < seeds; ++seeds_) {
      for (std::uint64_t arm = 0; arm < values_.size(); ++arm) {
        const auto found = journal_.entries().find({point_, arm, plan_.seed_at(seeds_)});
        if (found == journal_.entries().end()) return false;
        if (found->second.failed) continue;
        const auto value = Journal::number_at(found->second, places_[found->second.names]);
        if (value) values_[static_cast<std::size_t>(arm)].push_back(*value);
      }
    }
    return true;
  }

  bool is_narrow() const {
    const double confidence = interval_confidence(plan_);
    return std::ranges::all_of(values_, [&](const std::vector<double>& values) {
      if (values.size() < 2) return false;
      const double half_width = *estimate(values, confidence).half_width;
      if (half_width == 0 && values.size() < kSeedsEqual) return false;
      return half_width <= plan_.options.until_ci * kPoint;
    });
  }

 private:
  const SweepPlan& plan_;
  const Journal& journal_;
  const std::vector<std::size_t>& places_;
  std::uint64_t point_, seeds_ = 0;
  std::vector<std::vector<double>> values_;
};

}  // namespace

double interval_confidence(const SweepPlan& plan) {
  if (plan.options.until_ci == 0) return 0.95;
  return 1.0 - 0.05 / static_cast<double>(looks(plan));
}

std::uint64_t seeds_wanted(const SweepPlan& plan, const Journal& journal, std::uint64_t point) {
  std::uint64_t seeds = plan.seeds_first();
  if (plan.options.until_ci == 0) return seeds;
  const auto most = static_cast<std::uint64_t>(plan.options.seeds_max);
  PointMetric metric(plan, journal, point);
  while (seeds < most && metric.extend(seeds) && !metric.is_narrow()) {
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

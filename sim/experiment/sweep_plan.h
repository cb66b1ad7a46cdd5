// sim/experiment/sweep_plan.h: all runs of a sweep, as numbers: points x arms x seeds.
//
// A point is one setting of all axes; every point has the same arms and the same seeds, so that
// points and arms can be paired by seed. Points are counted out on demand: a sweep of millions costs
// no memory before it runs.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/experiment/sweep_axis.h"
#include "sim/scenario/load.h"
#include "sim/scenario/scenario.h"
#include "sim/scenario/sweep_options.h"

namespace sim::experiment {

// One run. Runs are ordered by this everywhere.
struct RunKey {
  std::uint64_t point;
  std::uint64_t arm;   // position among the sweep's arms
  std::uint64_t seed;
  auto operator<=>(const RunKey&) const = default;
};

// Part `number` of `count`, from 1: the points whose index leaves number - 1 when divided by count.
// A point never splits.
struct Shard {
  std::uint64_t number = 1, count = 1;
  bool operator==(const Shard&) const = default;
  bool holds(std::uint64_t point) const { return point % count == number - 1; }
};

// Seeds of a point before until_ci looks at it for the first time (assumed): the spread of fewer says
// little about the spread, and where failures are rare they may all be alike.
constexpr std::uint64_t kSeedsFirst = 10;

struct SweepPlan {
  std::string file;               // of the scenario, as the command line would name it
  std::string text;               // what stands in it
  std::vector<std::string> sets;  // laid on it before the axes
  scenario::Scenario base;        // with these, without the axes
  scenario::SweepOptions options;
  base::Place seeds_place, metric_place;  // in [sweep], or its name where it is not written
  std::vector<Axis> axes;
  std::vector<std::size_t> arms;  // indices into base.arms
  std::size_t reference = 0;      // position in `arms`
  std::vector<std::uint64_t> seeds;  // as asked for; until_ci may begin with more, see seeds_first()
  // Checksums of the data files that the arms are trained on, by name: of the points that were checked.
  std::map<std::string, std::string> files;

  std::uint64_t point_count() const;
  // Seeds that every point gets, whatever they give: the given ones; with until_ci at least kSeedsFirst
  // or seeds_max, whichever is less.
  std::uint64_t seeds_first() const;
  // Without those that until_ci may add.
  std::uint64_t run_count() const { return point_count() * arms.size() * seeds_first(); }
  const std::string& arm_name(std::uint64_t arm) const;

  // Per axis the index of its value. A grid's last axis moves fastest.
  std::vector<std::size_t> choices_at(std::uint64_t point) const;
  // The axes' values as --set takes them.
  std::vector<std::string> sets_at(std::uint64_t point) const;
  // "failure.chips.mtbi=\"1 y\", training.learners=2", or "" without axes.
  std::string name_of(std::uint64_t point) const;

  scenario::LoadResult load_point(std::uint64_t point) const;
  // Seeds of a point after `count` of them: the given ones, then on from the last.
  std::uint64_t seed_at(std::uint64_t index) const;
};

// The sweep as one file that can itself be swept, to the same tables: the base as given (base_text()), the
// values laid on it, every key of [sweep], the axes counted out. Two sweeps with equal texts are the
// same sweep to one version of the simulator: a default stands in no text, since at another point it may be
// another one.
std::string resolved_text(const SweepPlan& plan);

// The same with the base resolved: every value that it has without the axes. For a reader who wants to see
// what a new version changed; not to be swept.
std::string shown_text(const SweepPlan& plan);

// What names one run for good: hash of its resolved scenario (one arm, its seed) and the version.
std::string run_identity(const scenario::Scenario& scenario, std::size_t arm, std::uint64_t seed,
                         const std::string& version);

}  // namespace sim::experiment

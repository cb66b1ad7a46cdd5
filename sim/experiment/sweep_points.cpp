// sim/experiment/sweep_points.cpp: see sweep_points.h.
#include "sim/experiment/sweep_points.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "sim/base/random.h"

namespace sim::experiment {
namespace {

using scenario::SweepCombine;

// Points whose scenario is read before anything runs; the others when their turn comes.
constexpr std::uint64_t kPointsChecked = 200;

class PointsCheck {
 public:
  PointsCheck(SweepPlan& plan, base::Problems& problems) : plan_(plan), problems_(problems) {}

  void run() {
    const std::uint64_t count = plan_.point_count();
    if (count <= kPointsChecked || plan_.options.combine != SweepCombine::kGrid) {
      for (std::uint64_t i = 0; i < std::min(count, kPointsChecked); ++i) check(i, 0);
      return;
    }
    std::uint64_t stride = count;
    for (std::size_t i = 0; i < plan_.axes.size(); ++i) {
      const std::uint64_t length = plan_.axes[i].values.size();
      stride /= length;
      for (std::uint64_t k = 0; k < std::min(length, kPointsChecked); ++k) check(k * stride, i);
    }
  }

 private:
  void check(std::uint64_t point, std::size_t blamed) {
    if (problems_.list().size() >= kMistakesTold) return;
    const scenario::LoadResult loaded = plan_.load_point(point);
    tell(loaded.diagnostics, point, blamed);
    if (!loaded.scenario) return;
    note_files(*loaded.scenario);
    const auto [known, is_new] = points_.try_emplace(identity(*loaded.scenario), point);
    if (!is_new && known->second != point) tell_equal(known->second, point);
  }

  // What is wrong is told at the axis whose key it is about, else at `blamed`.
  void tell(const std::vector<base::Diagnostic>& diagnostics, std::uint64_t point, std::size_t blamed) {
    const std::vector<std::string> sets = plan_.sets_at(point);
    for (const base::Diagnostic& found : diagnostics) {
      std::size_t axis = blamed;
      for (std::size_t i = 0; i < sets.size(); ++i) {
        if (found.file == "--set " + sets[i]) axis = i;
      }
      const std::string about = found.key.empty() ? "" : found.key + ": ";
      const bool own = found.message.starts_with("unknown");  // wrong whatever the others are
      problems_.add(place_of(axis),
                    fmt::format("with {}: {}{}", own ? sets[axis] : plan_.name_of(point), about, found.message),
                    found.hint);
    }
  }

  // At the first axis that has another value there and changes nothing; once for each.
  void tell_equal(std::uint64_t one, std::uint64_t other) {
    const std::vector<std::size_t> choices = plan_.choices_at(one), others = plan_.choices_at(other);
    std::size_t axis = 0;
    while (axis + 1 < choices.size() && choices[axis] == others[axis]) ++axis;
    if (!told_.insert(axis).second) return;
    const bool drawn = plan_.options.combine == SweepCombine::kLatinHypercube;
    problems_.add(place_of(axis),
                  fmt::format("two points are the same scenario: {}; and {}", plan_.name_of(one), plan_.name_of(other)),
                  drawn ? "take fewer samples or another design_seed, or a grid of the values"
                        : "leave one out: it would be the same runs again");
  }

  base::Place place_of(std::size_t axis) const {
    return axis < plan_.options.axes.size() ? plan_.options.axes[axis].place : base::Place{plan_.file, {}, "sweep"};
  }

  void note_files(const scenario::Scenario& scenario) {
    for (const std::size_t arm : plan_.arms) {
      const trainer::DataOptions& data = scenario.arms[arm].learning.data;
      if (data.bytes > 0) plan_.files[data.file] = data.checksum;
    }
  }

  // Equal for two points whose runs are all the same.
  std::uint64_t identity(const scenario::Scenario& scenario) const {
    std::uint64_t hash = 0;
    for (const std::size_t arm : plan_.arms) {
      hash = base::hash_name(hash, scenario::identity_in(
                                       scenario::resolved_text(scenario, &scenario.arms[arm].training.name)));
    }
    return hash;
  }

  SweepPlan& plan_;
  base::Problems& problems_;
  std::set<std::size_t> told_;                     // axes of which some points are equal
  std::map<std::uint64_t, std::uint64_t> points_;  // identity -> the first point that has it
};

}  // namespace

void check_points(SweepPlan& plan, base::Problems& problems) { PointsCheck(plan, problems).run(); }

}  // namespace sim::experiment

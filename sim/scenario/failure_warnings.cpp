// sim/scenario/failure_warnings.cpp: see failure_warnings.h.
#include "sim/scenario/failure_warnings.h"

#include <fmt/format.h>

#include "sim/base/units.h"

namespace sim::scenario {

std::vector<base::Diagnostic> failure_warnings(const Scenario& scenario, const std::string& file) {
  constexpr double kFarBelow = 10;
  const auto text = [](double seconds) { return base::format_quantity(seconds, base::Dimension::kTime); };
  std::vector<base::Diagnostic> warnings;
  for (const Arm& arm : scenario.arms) {
    for (std::size_t i = 0; i < arm.failures.size(); ++i) {
      const chaos::FailureOptions& failure = arm.failures[i];
      if (failure.clock != chaos::Clock::kWall || failure.repair.mean_s * kFarBelow <= failure.life.mean_s) {
        continue;
      }
      warnings.push_back(
          {file, {}, fmt::format("failure[{}].repair", i),
           fmt::format("should be far below mtbi ({}) with clock \"wall\", where \"{}\" fails also while it is "
                       "down; got \"{}\"",
                       text(failure.life.mean_s), failure.name, text(failure.repair.mean_s)),
           fmt::format("clock = \"uptime\" is up mtbi / (mtbi + repair) = {:.2g} of the time",
                       failure.life.mean_s / (failure.life.mean_s + failure.repair.mean_s)),
           base::Severity::kWarning});
    }
  }
  base::sort_and_unite(warnings);
  return warnings;
}

}  // namespace sim::scenario

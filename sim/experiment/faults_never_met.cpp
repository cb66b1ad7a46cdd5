// sim/experiment/faults_never_met.cpp: see faults_never_met.h.
#include "sim/experiment/faults_never_met.h"

#include <fmt/format.h>

#include "sim/base/units.h"
#include "sim/chaos/fault_schema.h"

namespace sim::experiment {

std::vector<std::string> faults_never_met(const std::vector<chaos::Injector::NeverMet>& faults,
                                          base::Nanoseconds ended_at) {
  constexpr std::size_t kTextsMax = 20;
  std::vector<std::string> texts;
  for (const auto& [fault, index, has_target] : faults) {
    if (texts.size() == kTextsMax) {
      texts.push_back(fmt::format("{} further scripted faults: see faults.csv for those met",
                                  faults.size() - kTextsMax));
      break;
    }
    texts.push_back(fmt::format("fault {} ({} {} at {}): {}", index + 1, chaos::fault_kind_name(fault->kind),
                                chaos::target_text(fault->target_kind, fault->target),
                                base::format_duration(fault->at),
                                has_target ? "it ended at " + base::format_duration(ended_at)
                                           : "it has no such syncer"));
  }
  return texts;
}

}  // namespace sim::experiment

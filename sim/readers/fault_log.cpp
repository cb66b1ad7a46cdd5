// sim/readers/fault_log.cpp: see fault_log.h.
#include "sim/readers/fault_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

namespace sim::readers {

using tape::FaultKind;
using tape::TargetKind;

std::string_view fault_kind_name(FaultKind kind) {
  static constexpr std::array<std::string_view, 3> kNames = {"kill", "rate-cut", "partition"};
  return kNames.at(static_cast<std::size_t>(kind));
}

std::string_view target_kind_name(TargetKind kind) {
  static constexpr std::array<std::string_view, 6> kNames = {"chip",   "slice", "island",
                                                             "region", "link",  "syncer"};
  return kNames.at(static_cast<std::size_t>(kind));
}

std::string fault_target_name(const tape::RunShape& shape, TargetKind kind, std::uint32_t target) {
  switch (kind) {
    case TargetKind::kChip:
    case TargetKind::kSlice: return shape.slices.at(target).name;
    case TargetKind::kIsland: return shape.islands.at(target);
    case TargetKind::kRegion: return shape.regions.at(target);
    case TargetKind::kLink: {
      const tape::LinkShape& link = shape.links.at(target);
      return shape.regions.at(link.region_a) + "--" + shape.regions.at(link.region_b);
    }
    case TargetKind::kSyncer:
      if (target == tape::kCentralSyncer) return "central";
      return target < shape.learners.size() ? shape.learners[target].name : fmt::to_string(target);
  }
  throw std::logic_error("a fault with an unknown kind of target");
}

void FaultLog::on(const tape::Fact& fact) {
  if (fact.kind == tape::Kind::kFaultStarted) {
    lasting_.push_back({fact.fault_started.fault, faults_.size()});
    faults_.push_back({fact.fault_started, fact.at, base::kNever});
    scripted_count_ += fact.fault_started.scripted;
  } else if (fact.kind == tape::Kind::kFaultEnded) {
    const auto found = std::ranges::find(lasting_, fact.fault_ended.fault, &Lasting::fault);
    if (found == lasting_.end()) {
      throw std::logic_error(
          fmt::format("fault {} ends, but it does not last", fact.fault_ended.fault));
    }
    faults_[found->index].ended_at = fact.at;
    lasting_.erase(found);
  }
}

}  // namespace sim::readers

// sim/chaos/uptime_clock.cpp: see uptime_clock.h.
#include "sim/chaos/uptime_clock.h"

#include <stdexcept>

namespace sim::chaos {

using tape::FaultKind;
using tape::TargetKind;

UptimeClock::UptimeClock(engine::Conductor& conductor, const tape::RunShape& shape,
                         std::function<void(std::size_t)> fail)
    : conductor_(conductor), shape_(shape), clocks_(conductor, std::move(fail)) {
  holds_.assign(shape.slices.size() + shape.islands.size() + shape.regions.size() + shape.links.size(), 0);
  for (std::size_t i = 0; i < holds_.size(); ++i) clocks_.add_clock(true);
}

void UptimeClock::add(std::size_t unit, TargetKind kind, std::uint32_t target,
                      base::Nanoseconds until_failure) {
  clocks_.add_unit(unit, clock_of(kind, target), until_failure);
  clocks_.resume(unit);
}

void UptimeClock::on_fault(FaultKind fault, TargetKind kind, std::uint32_t target,
                           base::Nanoseconds lasts) {
  const std::vector<std::size_t> held = clocks_held_by(fault, kind, target);
  hold(held, 1);
  if (lasts >= base::kNever) return;
  conductor_.call_at(conductor_.now() + lasts, {engine::Priority::kFault, 1},
                     [this, held] { hold(held, -1); });
}

void UptimeClock::hold(const std::vector<std::size_t>& clocks, int change) {
  for (const std::size_t clock : clocks) {
    holds_[clock] += change;
    clocks_.set_running(clock, holds_[clock] == 0);
  }
}

std::size_t UptimeClock::clock_of(TargetKind kind, std::uint32_t target) const {
  const std::size_t islands = shape_.slices.size();
  const std::size_t regions = islands + shape_.islands.size();
  switch (kind) {
    case TargetKind::kChip:
    case TargetKind::kSlice: return target;
    case TargetKind::kIsland: return islands + target;
    case TargetKind::kRegion: return regions + target;
    case TargetKind::kLink: return regions + shape_.regions.size() + target;
    case TargetKind::kSyncer: break;
  }
  throw std::logic_error("a syncer has no time up of its own");
}

std::vector<std::size_t> UptimeClock::clocks_held_by(FaultKind fault, TargetKind kind,
                                                     std::uint32_t target) const {
  std::vector<std::size_t> held;
  if (fault == FaultKind::kRateCut || kind == TargetKind::kSyncer) return held;
  const bool region = kind == TargetKind::kRegion;
  if (fault == FaultKind::kKill) held.push_back(clock_of(kind, target));
  if (kind == TargetKind::kLink && fault == FaultKind::kPartition) held.push_back(clock_of(kind, target));
  for (std::uint32_t l = 0; region && l < shape_.links.size(); ++l) {
    const tape::LinkShape& link = shape_.links[l];
    if (link.region_a == target || link.region_b == target) held.push_back(clock_of(TargetKind::kLink, l));
  }
  const bool of_slices = region || kind == TargetKind::kIsland;
  if (fault == FaultKind::kPartition || !of_slices) return held;
  std::vector<char> island_held(shape_.islands.size(), 0);
  for (std::uint32_t s = 0; s < shape_.slices.size(); ++s) {
    const tape::SliceShape& slice = shape_.slices[s];
    const bool in_region = region && slice.region == target;
    if (in_region || (!region && slice.island == target)) held.push_back(s);
    if (in_region) island_held[slice.island] = 1;
  }
  for (std::uint32_t i = 0; i < island_held.size(); ++i) {
    if (island_held[i]) held.push_back(clock_of(TargetKind::kIsland, i));
  }
  return held;
}

}  // namespace sim::chaos

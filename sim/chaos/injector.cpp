// sim/chaos/injector.cpp: see injector.h.
#include "sim/chaos/injector.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace sim::chaos {

using base::Nanoseconds;
using tape::FaultKind;
using tape::TargetKind;

namespace {

Nanoseconds seconds_to_date(double seconds) {
  return seconds >= base::to_seconds(base::kNever) ? base::kNever : base::from_seconds(seconds);
}

}  // namespace

Injector::Injector(methods::World& world, methods::Method& method,
                   const std::vector<FailureOptions>& failures,
                   const std::vector<FaultOptions>& faults)
    : world_(world), method_(method), failures_(failures), faults_(faults) {
  const tape::RunShape& shape = world.shape();
  slice_holds_.assign(shape.slices.size(), 0);
  region_holds_.assign(shape.regions.size(), 0);
  link_holds_.assign(shape.links.size(), 0);
  link_factors_.resize(shape.links.size());
  syncer_holds_.assign(method.syncer_count(), 0);
  const auto on_failure = [this](std::size_t unit) { fail(unit); };
  exposure_ = std::make_unique<ExposureClock>(world.conductor, shape, on_failure);
  if (std::ranges::count(failures, Clock::kUptime, &FailureOptions::clock) > 0) {
    uptime_ = std::make_unique<UptimeClock>(world.conductor, shape, on_failure);
  }
  struck_.assign(faults.size(), 0);
}

void Injector::start() {
  for (const FailureOptions& failure : failures_) add_units(failure);
  for (std::size_t i = 0; i < faults_.size(); ++i) {
    const FaultOptions& fault = faults_[i];
    const std::optional<Target> target = find_target(fault);
    if (!target) continue;
    world_.conductor.call_at(fault.at, {engine::Priority::kFault, 0}, [this, target = *target, &fault, i] {
      struck_[i] = 1;
      if (uptime_) uptime_->on_fault(fault.kind, target.kind, target.index, fault.lasts);
      strike(target, fault.kind, fault.lasts, fault.rate_factor, fault.scripted,
             fault.arm_relative || fault.target_kind == TargetKind::kSyncer);
    });
  }
}

std::vector<Injector::NeverMet> Injector::never_met() const {
  std::vector<NeverMet> list;
  for (std::size_t i = 0; i < faults_.size(); ++i) {
    if (!faults_[i].scripted || struck_[i]) continue;
    list.push_back({&faults_[i], i, find_target(faults_[i]).has_value()});
  }
  return list;
}

void Injector::on(const tape::Fact& fact) { exposure_->on(fact); }

void Injector::add_units(const FailureOptions& failure) {
  for (const Target& target : targets_of(failure)) {
    const bool chips = failure.target == TargetKind::kChip && !failure.per_slice;
    const std::int64_t members = chips ? world_.shape().slices[target.index].chips : 1;
    const std::string name = fmt::format("failure/{}/{}", failure.name, name_of(target));
    units_.push_back({&failure, target,
                      failure_models::RenewalStream(
                          {failure.life, members, failure.age, failure.age_s}, world_.seed, name),
                      failure_models::Distribution(failure.repair),
                      base::Stream(world_.seed, name + "/repair")});
    start_clock(units_.size() - 1);
  }
}

void Injector::start_clock(std::size_t index) {
  const Unit& unit = units_[index];
  const TargetKind kind = unit.target.kind;
  const Nanoseconds first = seconds_to_date(unit.lives.next_s());
  switch (unit.model->clock) {
    case Clock::kWall: arm_wall(index); return;
    case Clock::kUptime: uptime_->add(index, kind, unit.target.index, first); return;
    case Clock::kStepping: break;
  }
  if (kind == TargetKind::kChip || kind == TargetKind::kSlice) {
    exposure_->add_slice(index, unit.target.index, first);
  } else {
    exposure_->add_place(index, exposing_slices(unit.target), first);
  }
}

// Dates of failures by the time up hang on the arm only where those of other faults do.
bool Injector::depends_on_arm(const FailureOptions& failure) const {
  if (failure.target == TargetKind::kSyncer || failure.clock == Clock::kStepping) return true;
  return failure.clock == Clock::kUptime &&
         std::ranges::count(failures_, Clock::kStepping, &FailureOptions::clock) > 0;
}

void Injector::arm_wall(std::size_t unit) {
  const Nanoseconds date = seconds_to_date(units_[unit].lives.next_s());
  if (date >= base::kNever) return;
  world_.conductor.call_at(std::max(date, world_.conductor.now()), {engine::Priority::kFault, 0},
                           [this, unit] { fail(unit); });
}

void Injector::renew(std::size_t index, double failed_at_s) {
  const Unit& unit = units_[index];
  const Nanoseconds until_failure = seconds_to_date(unit.lives.next_s() - failed_at_s);
  switch (unit.model->clock) {
    case Clock::kWall: arm_wall(index); return;
    case Clock::kStepping: exposure_->renew(index, until_failure); return;
    case Clock::kUptime: uptime_->renew(index, until_failure); return;
  }
}

// A unit reaches its failure date. Where failures act at the end of a step, the fault is dated
// there; steps come before faults at one date, so that step is finished and counted.
void Injector::fail(std::size_t index) {
  Unit& unit = units_[index];
  const double failed_at_s = unit.lives.next_s();
  const Nanoseconds lasts = seconds_to_date(unit.repair.draw_s(unit.repair_stream));
  unit.lives.advance();
  renew(index, failed_at_s);
  Nanoseconds date = world_.conductor.now();
  const bool on_slice =
      unit.target.kind == TargetKind::kChip || unit.target.kind == TargetKind::kSlice;
  if (on_slice && world_.training.elasticity.failure_acts == methods::FailureActs::kStepEnd) {
    const std::uint16_t learner = world_.shape().slices[unit.target.index].learner;
    if (learner != tape::kNoLearner) date = method_.step_end(learner);
  }
  const Target target = unit.target;
  if (uptime_) uptime_->on_fault(FaultKind::kKill, target.kind, target.index, lasts);
  const auto act = [this, target, lasts, arm_relative = depends_on_arm(*unit.model)] {
    strike(target, FaultKind::kKill, lasts, 0, false, arm_relative);
  };
  if (date == world_.conductor.now()) {
    act();
  } else {
    world_.conductor.call_at(date, {engine::Priority::kFault, 0}, act);
  }
}

void Injector::strike(const Target& target, FaultKind kind, Nanoseconds lasts, double rate_factor,
                      bool scripted, bool arm_relative) {
  const std::uint32_t fault = next_fault_++;
  world_.say(tape::FaultStarted{lasts, rate_factor, fault, target.index, kind, target.kind,
                                scripted, arm_relative});
  apply(target, kind, rate_factor);
  if (lasts >= base::kNever) return;
  world_.conductor.call_at(world_.conductor.now() + lasts, {engine::Priority::kFault, 1},
                           [this, fault, target, kind, rate_factor] {
                             world_.say(tape::FaultEnded{fault});
                             lift(target, kind, rate_factor);
                           });
}

void Injector::apply(const Target& target, FaultKind kind, double rate_factor) {
  if (kind == FaultKind::kRateCut) {
    link_factors_[target.index].push_back(rate_factor);
    set_link_rate(target.index);
    return;
  }
  if (target.kind == TargetKind::kRegion) {
    hold_region(static_cast<std::uint16_t>(target.index), kind == FaultKind::kKill ? 1 : 0);
    if (kind == FaultKind::kPartition) {
      for (std::uint32_t l = 0; l < world_.shape().links.size(); ++l) {
        const auto& link = world_.shape().links[l];
        if (link.region_a == target.index || link.region_b == target.index) hold_link(l, 1);
      }
      return;
    }
  }
  if (target.kind == TargetKind::kLink) {
    hold_link(target.index, 1);
    return;
  }
  const bool takes_hosts = target.kind == TargetKind::kIsland || target.kind == TargetKind::kRegion;
  for (const std::uint32_t shard : shards_of(target)) {
    hold_syncer(shard, 1);
    // Told of all: a shard whose process was down may lose its host only now.
    if (takes_hosts) method_.syncer_host_lost(static_cast<std::uint16_t>(shard));
  }
  hold(slices_of(target), target.kind);
}

void Injector::lift(const Target& target, FaultKind kind, double rate_factor) {
  if (kind == FaultKind::kRateCut) {
    auto& factors = link_factors_[target.index];
    factors.erase(std::ranges::find(factors, rate_factor));
    set_link_rate(target.index);
    return;
  }
  if (target.kind == TargetKind::kRegion && kind == FaultKind::kPartition) {
    for (std::uint32_t l = 0; l < world_.shape().links.size(); ++l) {
      const auto& link = world_.shape().links[l];
      if (link.region_a == target.index || link.region_b == target.index) hold_link(l, -1);
    }
    return;
  }
  if (target.kind == TargetKind::kRegion) hold_region(static_cast<std::uint16_t>(target.index), -1);
  if (target.kind == TargetKind::kLink) {
    hold_link(target.index, -1);
    return;
  }
  for (const std::uint32_t shard : shards_of(target)) hold_syncer(shard, -1);
  release(slices_of(target));
}

void Injector::hold(const std::vector<std::uint32_t>& slices, TargetKind cause) {
  std::vector<std::uint32_t> lost;
  for (const std::uint32_t slice : slices) {
    if (slice_holds_[slice]++ == 0) lost.push_back(slice);
  }
  if (!lost.empty()) method_.slices_lost(lost);
  // Told of all: a slice that a chip's failure had stopped may lose its host only now.
  if (cause == TargetKind::kIsland || cause == TargetKind::kRegion) method_.hosts_lost(slices);
}

void Injector::release(const std::vector<std::uint32_t>& slices) {
  std::vector<std::uint32_t> back;
  for (const std::uint32_t slice : slices) {
    if (--slice_holds_[slice] == 0) back.push_back(slice);
  }
  if (!back.empty()) method_.slices_returned(back);
}

void Injector::hold_region(std::uint16_t region, int change) {
  const bool was_up = region_holds_[region] == 0;
  region_holds_[region] += change;
  const bool is_up = region_holds_[region] == 0;
  if (was_up == is_up) return;
  world_.transport.set_region_up(region, is_up);
  method_.network_changed();
}

void Injector::hold_link(std::uint32_t link, int change) {
  const bool was_up = link_holds_[link] == 0;
  link_holds_[link] += change;
  const bool is_up = link_holds_[link] == 0;
  const auto& ends = world_.shape().links[link];
  if (was_up == is_up) return;
  world_.transport.set_link_up(ends.region_a, ends.region_b, is_up);
  method_.network_changed();
}

void Injector::set_link_rate(std::uint32_t link) {
  double factor = 1;
  for (const double f : link_factors_[link]) factor *= f;
  const auto& ends = world_.shape().links[link];
  world_.transport.set_link_rate_factor(ends.region_a, ends.region_b, factor);
  method_.network_changed();
}

void Injector::hold_syncer(std::uint32_t shard, int change) {
  const bool was_up = syncer_holds_[shard] == 0;
  syncer_holds_[shard] += change;
  const bool is_up = syncer_holds_[shard] == 0;
  if (was_up && !is_up) method_.syncer_lost(static_cast<std::uint16_t>(shard));
  if (!was_up && is_up) method_.syncer_returned(static_cast<std::uint16_t>(shard));
}

}  // namespace sim::chaos

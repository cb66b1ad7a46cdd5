// sim/chaos/injector.h: strikes the fleet with faults, random and scripted, and takes them back.
//
// Faults are drawn for the physical fleet, each unit from its own streams, so every arm meets the
// same ones (law 2). Overlapping faults compose: a resource is down while any fault holds it, and
// the rate factors of a link multiply; so ending them in any order restores what was (law 8).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/chaos/exposure_clock.h"
#include "sim/chaos/fault_options.h"
#include "sim/chaos/uptime_clock.h"
#include "sim/methods/method.h"
#include "sim/tape/reader.h"

namespace sim::chaos {

// Also a reader: the stepping clock runs while the tape says that a unit's learner steps.
class Injector final : public tape::Reader {
 public:
  Injector(methods::World& world, methods::Method& method,
           const std::vector<FailureOptions>& failures, const std::vector<FaultOptions>& faults);

  // Enters all first dates. Call once, after the method's start().
  void start();
  void on(const tape::Fact& fact) override;

  // What of the scripted faults did not strike, and why: its date never came, or this arm has no such
  // syncer. In the order of the list.
  struct NeverMet {
    const FaultOptions* fault;
    std::size_t index;  // in the list
    bool has_target;
  };
  std::vector<NeverMet> never_met() const;

 private:
  struct Target {
    tape::TargetKind kind;
    std::uint32_t index;
  };
  // One unit of one failure model.
  struct Unit {
    const FailureOptions* model;
    Target target;
    failure_models::RenewalStream lives;
    failure_models::Distribution repair;
    base::Stream repair_stream;
  };

  std::vector<Target> targets_of(const FailureOptions& failure) const;
  std::optional<Target> find_target(const FaultOptions& fault) const;
  std::string name_of(const Target& target) const;
  bool has_central_syncer() const;
  void add_units(const FailureOptions& failure);
  std::size_t shard_of(const Target& syncer) const;
  bool depends_on_arm(const FailureOptions& failure) const;
  void start_clock(std::size_t unit);
  void arm_wall(std::size_t unit);
  void renew(std::size_t unit, double failed_at_s);
  void fail(std::size_t unit);

  void strike(const Target& target, tape::FaultKind kind, base::Nanoseconds lasts,
              double rate_factor, bool scripted, bool arm_relative);
  void apply(const Target& target, tape::FaultKind kind, double rate_factor);
  void lift(const Target& target, tape::FaultKind kind, double rate_factor);
  void hold(const std::vector<std::uint32_t>& slices, tape::TargetKind cause);
  void release(const std::vector<std::uint32_t>& slices);
  void hold_region(std::uint16_t region, int change);
  void hold_link(std::uint32_t link, int change);
  void set_link_rate(std::uint32_t link);
  void hold_syncer(std::uint32_t shard, int change);
  std::vector<std::uint32_t> slices_of(const Target& target) const;
  std::vector<std::uint32_t> exposing_slices(const Target& target) const;
  std::vector<std::uint32_t> shards_of(const Target& target) const;

  methods::World& world_;
  methods::Method& method_;
  const std::vector<FailureOptions>& failures_;
  const std::vector<FaultOptions>& faults_;
  std::vector<Unit> units_;
  std::unique_ptr<ExposureClock> exposure_;
  std::unique_ptr<UptimeClock> uptime_;  // none: no failure goes by it
  std::vector<char> struck_;             // as faults_
  std::uint32_t next_fault_ = 0;
  std::vector<int> slice_holds_, region_holds_, link_holds_, syncer_holds_;
  std::vector<std::vector<double>> link_factors_;
};

}  // namespace sim::chaos

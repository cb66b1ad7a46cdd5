// sim/chaos/fault_options.h: random failure models and scripted faults, as plain values.
#pragma once

#include <string>
#include <vector>

#include "failure_models/renewal.h"
#include "sim/base/time.h"
#include "sim/tape/fact.h"

namespace sim::chaos {

enum class Clock : std::uint8_t { kWall, kStepping, kUptime };

// Each unit of the target kind fails again and again and is repaired.
struct FailureOptions {
  std::string name;                       // stream names hang on it
  tape::TargetKind target;                // chip, slice, island, region, link
  std::string only;                       // name of one island, region ... ; empty: all
  failure_models::DistributionOptions life;  // of one chip, slice, island, region or link
  bool per_slice;                         // target chip, law not exponential: the unit is the slice
  failure_models::DistributionOptions repair;
  failure_models::Age age;
  double age_s;
  Clock clock;
};

// One concrete fault.
struct FaultOptions {
  base::Nanoseconds at;
  tape::FaultKind kind;
  tape::TargetKind target_kind;
  std::string target;                     // name; chip and slice: "west/2/slice-1"
  base::Nanoseconds lasts;                // kNever: for good
  double rate_factor;                     // rate cut: share of the nominal rate that is left
  bool scripted;                          // somebody wrote it down; a recording of a drawn one: false
  bool arm_relative = false;              // recorded: its date hung on what the arm did
};

}  // namespace sim::chaos

// sim/methods/fleet_options.h: the nominal model and the physical fleet, as plain values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/time.h"

namespace sim::methods {

// What time and links are charged for.
struct NominalModelOptions {
  std::int64_t parameters;
  std::int64_t layers, width, vocabulary;  // 0: no tensor list, equal fragments
  std::int64_t batch_tokens;               // global batch, per step
  double utilization;                      // model FLOP/s over peak, compute only
  double gradient_bytes;                   // per parameter on the wire
  double state_bytes;                      // per parameter: parameters and inner-optimizer state
  double syncer_state_bytes;               // per parameter: global value and outer momentum
};

struct IslandOptions {
  std::string name;
  std::int64_t count;          // islands alike, named name/1 .. name/count when above 1
  std::string region;
  std::string chip;            // catalogue name; empty when peak is given
  std::int64_t chips;          // per island
  std::int64_t slices;         // per island; divides chips
  double peak_flops;           // per chip; 0: from the catalogue
  double speed;                // factor on the step rate of this island
  double chip_memory = 0;      // bytes of one chip; 0: from the catalogue, else not checked
  double power_w = 0;          // of one chip at full work; 0: from the catalogue, else unknown
  bool power_assumed = false;  // ... and that is an assumption
  double dollars_per_h = 0;    // of one chip; 0: that of [cost], else not given
};

struct SpeedSpreadOptions {
  double island_sd;  // sd of the natural log of an island's speed, drawn once
  double step_sd;    // the same for each step of each island
};

}  // namespace sim::methods

// sim/scenario/sweep_options.h: [sweep]: which values a scenario's keys take, one after another.
//
// A sweep is no part of what a scenario is: `atoll run` reads past it, and the resolved scenario and
// its hash do not hold it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/value.h"

namespace sim::scenario {

enum class SweepCombine { kGrid, kZip, kLatinHypercube };
enum class AxisSpacing { kLinear, kLog };
// What to do with an axis on a key that an arm sets itself: the axis would undo what makes the arm.
enum class ArmOverrides { kRefuse, kReplace };

struct AxisOptions {
  std::string key;                  // as --set names it: "failure.chips.mtbi"
  std::vector<base::Value> values;  // a list; else from, to and count
  base::Value from, to;             // numbers, or texts of one unit; no text and no number: not given
  std::int64_t count;
  AxisSpacing spacing;
  bool whole;                       // round each value to a whole number
  base::Place place;
};

struct SweepOptions {
  SweepCombine combine;
  std::vector<AxisOptions> axes;
  std::vector<std::string> set;   // KEY=VALUE, before the axes
  std::vector<std::string> arms;  // empty: all
  std::string reference;          // arm to which differences are taken; empty: the first
  std::string seeds;              // "1..10"
  std::int64_t samples;           // of a Latin hypercube
  std::uint64_t design_seed;      // of its draws
  double until_ci;                // add seeds until the half width is this small, in points; 0: do not
  std::string metric;             // path in summary.json that until_ci looks at
  std::vector<std::string> metrics;  // that the gate guards, all at once; empty: the one above
  std::int64_t seeds_block;       // how many seeds are added at a time
  std::int64_t seeds_max;         // and when that ends
  ArmOverrides arm_overrides;
};

}  // namespace sim::scenario

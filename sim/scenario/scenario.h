// sim/scenario/scenario.h: a checked scenario: everything that a run depends on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/time.h"
#include "sim/chaos/fault_options.h"
#include "sim/engine/network_options.h"
#include "sim/methods/fleet_options.h"
#include "sim/methods/training_options.h"
#include "sim/readers/cost.h"
#include "sim/readers/energy.h"
#include "sim/trainer/learning_options.h"

namespace sim::scenario {

struct MarkOptions {
  base::Nanoseconds time;  // 0: none
  double tokens;           // 0: none
  base::Nanoseconds limit; // an arm that has not reached its marks by then ends: "not reached"
  double energy_kwh = 0;   // 0: none
  double cost_usd = 0;     // 0: none
  double loss = 0;         // held-out loss at an evaluation; 0: none
};

struct Expectation {
  std::string arm;     // name of the arm
  std::string field;   // dotted path into summary.json: "goodput.stepping"
  bool is_minimum;     // .min, else .max
  double bound;
  int line, column;    // where the file says so
};

// One arm, with everything merged in.
struct Arm {
  methods::TrainingOptions training;
  trainer::LearningOptions learning;
  std::vector<chaos::FailureOptions> failures;
  std::vector<chaos::FaultOptions> faults;
};

struct Scenario {
  std::string name;
  std::string folder;             // of the file it was read from: where files it names are looked for
  std::uint64_t seed;
  MarkOptions marks;
  methods::NominalModelOptions model;
  methods::SpeedSpreadOptions spread;
  engine::NetworkOptions network;
  std::vector<methods::IslandOptions> islands;
  readers::EnergyOptions energy;
  readers::CostOptions cost;
  bool allow_overload;            // overload = "allow"
  bool ignore_memory = false;     // memory = "ignore"
  std::vector<Arm> arms;          // the first is [training]; the reference of comparisons
  std::vector<Expectation> expectations;
};

}  // namespace sim::scenario

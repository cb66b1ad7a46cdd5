// sim/cli/gate_verb.h: what baseline and check share.
#pragma once

#include <optional>
#include <string>

#include "sim/base/value.h"
#include "sim/cli/command_line.h"
#include "sim/cli/sweep_common.h"
#include "sim/experiment/gate_curve.h"

namespace sim::cli {

// A sweep that a gate can guard: its metric is a share of which more is better, and no two of its points
// are the same one. Else an exit code, and everything was said.
LoadedSweep load_curve(const CommandLine& line);

struct Measured {
  std::optional<experiment::Curve> curve;
  int exit_code = 0;       // when there is none; the reason was said
  std::string failed_run;  // the first: which, why and the command that repeats it; empty: none failed
};
Measured measure(const experiment::SweepPlan& plan, const CommandLine& line);

// Where seeds or metric come from: their option on the command line, or their place in [sweep].
base::Place place_of_seeds(const CommandLine& line, const experiment::SweepPlan& plan);
base::Place place_of_metric(const CommandLine& line, const experiment::SweepPlan& plan);

// Prints one mistake; the exit code for it.
int say_mistake(const base::Place& place, const std::string& message, const std::string& hint);

}  // namespace sim::cli

// sim/experiment/recorded_sweep.h: from the sweep.toml of a sweep that was run to what its tables need.
#pragma once

#include <optional>
#include <string>

#include "sim/experiment/sweep_plan.h"

namespace sim::experiment {

// Axes, arms (their names alone), seeds and options of a text that resolved_text() wrote. The scenario is
// not read, nor any file that it names: nothing of this plan can be run. `file` becomes the plan's, for
// commands that repeat a run. Nothing when the text is no such text.
std::optional<SweepPlan> recorded_sweep(const std::string& text, const std::string& file);

}  // namespace sim::experiment

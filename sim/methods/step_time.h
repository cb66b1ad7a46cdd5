// sim/methods/step_time.h: how much a training step computes, and how fast chips do it.
//
// The one place that knows both formulas; the fleet divides one by the other. Communication is not in
// here: it is simulated or, where a method says so, added by it.
#pragma once

#include <cstdint>

#include "sim/methods/fleet_options.h"

namespace sim::methods {

// FLOP/s of `chips` healthy chips in a training step: chips * peak * utilization * speed.
// Units:    peak_flops is one chip's dense peak in FLOP/s; speed is a factor.
// Requires: chips > 0, peak_flops > 0 (loading a scenario fills it from the catalogue); else
//           std::invalid_argument.
double useful_flops_per_s(const NominalModelOptions& model, std::int64_t chips, double peak_flops,
                          double speed);

// FLOP of a training step over `tokens` tokens: 6 * parameters * tokens (2 forward, 4 backward).
// Source: Kaplan et al. 2020, arXiv:2001.08361, section 2.1, attention left out.
double step_flop(const NominalModelOptions& model, double tokens);

}  // namespace sim::methods

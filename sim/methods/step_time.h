// sim/methods/step_time.h: how long a training step computes, from the nominal model and the chips.
//
// The one place that turns parameters, tokens and peak rates into time. Communication is not in
// here: it is simulated or, where a method says so, added by it.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/time.h"
#include "sim/methods/fleet_options.h"

namespace sim::methods {

// FLOP/s of `chips` healthy chips in a training step: chips * peak * utilization * speed.
// Units:  peak_flops is one chip's dense peak in FLOP/s; speed is a factor.
double useful_flops_per_s(const NominalModelOptions& model, std::int64_t chips, double peak_flops,
                          double speed = 1.0);

// The same for one whole island (one of `count`). Requires: peak_flops > 0 (loading a scenario
// fills it from the catalogue); else std::invalid_argument.
double island_flops_per_s(const NominalModelOptions& model, const IslandOptions& island);

// FLOP of a training step over `tokens` tokens: 6 * parameters * tokens (2 forward, 4 backward).
// Source: Kaplan et al. 2020, arXiv:2001.08361, section 2.1, attention left out.
double step_flop(const NominalModelOptions& model, double tokens);

// Compute time of one step: 6 * parameters * tokens / (chips * peak * utilization).
// Requires: chips > 0, peak_flops > 0; else std::invalid_argument.
base::Nanoseconds step_time(const NominalModelOptions& model, std::int64_t chips, double peak_flops,
                            double tokens_of_learner);

// Tokens per second that the whole fleet computes when everything is healthy and nothing waits:
// the denominator of goodput.token (design section 3).
double native_tokens_per_s(const NominalModelOptions& model,
                           const std::vector<IslandOptions>& islands);

}  // namespace sim::methods

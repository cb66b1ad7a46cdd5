// optim/schedule.cpp: learning-rate schedules over tokens; declared in inner_optimizer.h.
#include <algorithm>

#include "optim/inner_optimizer.h"
#include "sim/base/elementary.h"

namespace optim {
namespace {

// From 1 at share 0 to `final_factor` at share 1, half a turn of a cosine.
double cosine_fall(double share, double final_factor) {
  double sine, cosine;
  sim::base::sine_cosine_of_turn(0.5 * share, sine, cosine);
  return final_factor + (1.0 - final_factor) * 0.5 * (1.0 + cosine);
}

double linear_fall(double share, double final_factor) {
  return 1.0 + (final_factor - 1.0) * share;
}

// Where `tokens` lies between `from` (0) and `to` (1).
double share_between(double from, double to, double tokens) {
  if (tokens >= to) return 1.0;
  if (tokens <= from) return 0.0;
  return (tokens - from) / (to - from);
}

}  // namespace

double schedule_factor(const ScheduleOptions& options, double tokens) {
  if (tokens < options.warmup_tokens) return std::max(tokens, 0.0) / options.warmup_tokens;
  switch (options.kind) {
    case ScheduleKind::kConstant: break;
    case ScheduleKind::kCosine:
      return cosine_fall(share_between(options.warmup_tokens, options.horizon_tokens, tokens),
                         options.final_factor);
    case ScheduleKind::kWsd: {
      const double decay_start =
          std::max(options.warmup_tokens, options.horizon_tokens * (1.0 - options.decay_share));
      return linear_fall(share_between(decay_start, options.horizon_tokens, tokens),
                         options.final_factor);
    }
  }
  return 1.0;
}

}  // namespace optim

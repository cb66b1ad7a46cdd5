// sim/experiment/sweep_forecast.h: what a sweep will cost, from a few runs of its own.
#pragma once

#include <cstdint>
#include <string>

#include "sim/experiment/interruption.h"
#include "sim/experiment/sweep_plan.h"

namespace sim::experiment {

struct SweepForecast {
  std::uint64_t points, runs;
  std::size_t trials;             // runs that were done to see; or begun, and cut
  std::size_t untried;            // runs that crashed, or are no legal scenario: nothing is known of them
  double run_seconds;             // of one, mean over the trials; a trial that takes long is cut and extrapolated
  double bytes;                   // journal and tables of all runs, and their folders where they are kept
  bool kept_unknown = false;      // no trial ended, so that `bytes` are without the folders
  double seconds(int jobs) const { return run_seconds * static_cast<double>(runs) / jobs; }
};

enum class KeptRuns { kNone, kAll };

// Of the runs in this shard. Tries the first, the middle and the last point with every arm (at most
// four of them); each trial is ended after five seconds. Stops at a signal, with fewer trials.
// What the folders of a trial take is seen in a temporary one.
// Errors: std::system_error when that cannot be written.
SweepForecast forecast(const SweepPlan& plan, const Shard& shard, KeptRuns kept, InterruptionWatch& watch);

// "35 s", "12 min", "3.4 h", "2.1 d"; "340 kB", "1.2 GB".
std::string duration_in_words(double seconds);
std::string bytes_in_words(double bytes);

}  // namespace sim::experiment

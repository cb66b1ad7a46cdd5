// sim/scenario/forecast.h: what can be said about an arm before it runs.
//
// Arithmetic, and for Decoupled DiLoCo a recurrence over dates (syncer_play.h): no engine, no faults.
// `atoll validate` prints it, also beside a refusal, and a steady state that does not fit its links is
// found here.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/diagnostic.h"
#include "sim/base/time.h"
#include "sim/scenario/merge_forecast.h"
#include "sim/scenario/overlap_fit.h"
#include "sim/scenario/scenario.h"

namespace sim::scenario {

struct LinkForecast {
  std::string region_a, region_b;
  double needed_bytes_per_s;     // each direction, mean over a step of the healthy steady state
  double available_bytes_per_s;
  // available / needed; infinity when nothing is needed.
  double margin;
};

struct ArmForecast {
  std::string name;
  std::int64_t learners;
  base::Nanoseconds step_time;          // compute, of the slowest learner, everything healthy
  std::vector<LinkForecast> links;      // those that carry something
  bool stalls;                          // synchronous: waits for links instead of overrunning them
  // Exposed communication of a data-parallel step; at barriers a step's share of what syncs hold it up.
  base::Nanoseconds stall_per_step;
  base::Nanoseconds exchange_per_step;  // exposed, among a learner's own slices; 0 for data parallel
  base::Nanoseconds sync_time;          // all-reduce of the largest fragment alone; 0: no barriers
  base::Nanoseconds cycle_time;         // H x step: what recovery should fit into; 0: no syncer
  base::Nanoseconds recovery_time;      // state_bytes over the slowest link; 0: no links
  base::Nanoseconds upsize_downtime;    // of a joining learner or region, see upsize_downtime()
  double learner_steps;                 // predicted up to the last mark, without failures
  double cpu_s;                         // predicted processor seconds of the mathematics and the world
  MergeForecast merges;                 // participation and tokens, everything healthy
};

// How long training stands still for a join whose state takes `state_time` of the slowest link.
//   data parallel: state_time; the job blocks until the state is there
//   methods that merge: max(0, state_time + round_time - cycle_time): the state shares the link with the
//     fragments of one round, which take `round_time` of it, and a join ends within H steps without
//     holding up anything
// With a model copy of c steps on the link, a state of three and fragments of one: 3 c and
// max(0, 4 c - H) steps.
// Source: arXiv:2604.21428, Appendix E.3 and Figure 12; the closed form: facts 1.9.
base::Nanoseconds upsize_downtime(base::Nanoseconds state_time, base::Nanoseconds round_time,
                                  base::Nanoseconds cycle_time);

// Errors, of all that follow: std::invalid_argument where regions that must talk have no links.
ArmForecast forecast_arm(const Scenario& scenario, const Arm& arm);
// With plans that are shared among arms and forecasts of one network.
ArmForecast forecast_arm(const Scenario& scenario, const Arm& arm, NominalPlans& plans);
std::vector<ArmForecast> forecast(const Scenario& scenario);

// The same without `merges`, which takes longest: what every load of a scenario looks at.
ArmForecast forecast_load(const Scenario& scenario, const Arm& arm);

// The smallest overlap_steps that this arm's syncs fit into.
OverlapFit fitting_overlap(const Scenario& scenario, const Arm& arm, NominalPlans& plans);

// overlap_steps = "fit" as the number that it stands for; where regions that must talk have no links, 1.
void resolve_overlap(const Scenario& scenario, Arm& arm);

// Seconds of the fastest and the slowest slice's step among those that wait for each other or merge.
std::pair<double, double> slice_step_range(const Scenario& scenario, const Arm& arm);

// What a reader should know before running, with `file` for its place: few steps up to the mark, merges
// that come late or of one contributor, folding slower than fragments fall due, learners of unequal pace,
// slices as large as their island. Each with its figure and the key that mends it, tried by forecast.
std::vector<base::Diagnostic> forecast_warnings(const Scenario& scenario, const std::string& file);
std::vector<base::Diagnostic> forecast_warnings(const Scenario& scenario, const std::string& file,
                                                NominalPlans& plans);

// As a table for people. An arm whose regions cannot talk has the reason in place of its figures.
std::string forecast_text(const Scenario& scenario);
std::string forecast_text(const Scenario& scenario, NominalPlans& plans);

}  // namespace sim::scenario

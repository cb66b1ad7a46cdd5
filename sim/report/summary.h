// sim/report/summary.h: one run in figures: what summary.json holds.
//
// Times are integer nanoseconds here and seconds in the file; what does not apply is null, never 0.
// No wall time, host name or path: the same run gives the same bytes.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "sim/readers/run_account.h"

namespace sim::report {

using base::Nanoseconds;

constexpr int kSummaryFormat = 1;

struct MarkSummary {
  std::string name;               // see mark_name
  std::optional<Nanoseconds> at;  // empty: not reached
  std::optional<double> loss;     // last evaluation at or before the mark
  std::optional<std::uint64_t> tokens;  // consumed
  std::optional<double> energy_kwh = {}, energy_kwh_stall_low = {}, energy_kwh_stall_high = {};
  std::optional<double> cost_usd = {};
  std::optional<double> learning_rate_factor = {};  // place in the schedule: on the peak rate
  std::optional<std::uint64_t> merged_tokens = {};
};

// "time", "tokens", "energy_kwh", "cost_usd", "loss": as in [marks].
std::string_view mark_name(tape::MarkKind mark);

// Where the joules went, in kWh, at the declared stall power.
struct EnergySummary {
  double total = 0, stall_low = 0, stall_high = 0;
  double busy = 0, stalled = 0, idle = 0, unused = 0, off = 0, host = 0, wan = 0;
  double wasted = 0;  // of the total: undone, broken off and discarded work
  std::optional<double> joules_per_token = {};  // merged ones
};

struct CostSummary {
  double total = 0, chips = 0, egress = 0;
  std::optional<double> per_billion_tokens = {};  // merged ones
};

// What energy was charged with.
struct PowerSummary {
  double stall = 0, stall_low = 0, stall_high = 0, pue = 0;
  bool watts_assumed = false;
};

struct WanSummary {
  std::int64_t bytes = 0;
  double mean_gbps = 0;
  double peak_gbps = 0;
  double peak_window_s = 0;
  std::optional<double> bytes_per_token;
};

// When the loss of the global model ceased to be a number.
struct DivergenceSummary {
  Nanoseconds at = 0;
  std::uint32_t step = 0;
};

struct LossSummary {
  std::optional<double> initial, last, floor;
};

// What time, links and tokens were charged for.
struct NominalSummary {
  std::int64_t parameters = 0;
  std::uint64_t batch_tokens = 0;
  std::int64_t fragments = 0;
  double step_s = 0;
  double native_tokens_per_s = 0;
};

// The file that examples came from.
struct DataSummary {
  std::string file;      // as the scenario names it
  std::int64_t bytes = 0;
  std::string checksum;  // of its content, sixteen hex digits
};

// What was really trained.
struct ProxySummary {
  std::string model, task, optimizer;
  std::int64_t parameters = 0;
  std::int64_t batch = 0;
  std::optional<DataSummary> data = {};  // none: a task that makes its own examples
};

// How long states were fetched for (see readers::RecoveryTimes).
struct RecoverySummary {
  std::optional<std::int64_t> bound_steps;  // H; none: the method has no such bound
  std::uint64_t beyond_bound = 0;
  double longest_steps = 0;
};

struct Summary {
  std::string scenario;
  std::uint64_t scenario_hash = 0;
  std::uint64_t set_hash = 0;  // the same without the seed: all runs of one experiment share it
  std::string arm, method;
  std::uint64_t seed = 0;
  std::string version, isa_level;
  std::uint64_t trace_hash = 0;
  std::int64_t chips = 0;
  std::int64_t learners = 0;
  Nanoseconds duration = 0;          // of the whole run
  Nanoseconds accounted_until = 0;   // date of all time measures below: the time mark, else the end
  std::vector<MarkSummary> marks;
  readers::Goodput goodput;          // with uptime and compute_utilization
  std::optional<double> participation;
  std::optional<Nanoseconds> step_median;
  WanSummary wan;
  std::uint64_t steps = 0;           // largest step number that a learner finished
  std::uint64_t learner_steps = 0;   // finished by all learners, undone ones included
  std::uint64_t tokens = 0;          // consumed, at the end (see readers/token_ledger.h)
  std::uint64_t merged_tokens = 0;   // at the end
  LossSummary loss;
  std::optional<DivergenceSummary> diverged;
  std::optional<EnergySummary> energy;  // as far as the other time measures; none: watts unknown
  std::optional<CostSummary> cost;      // none: prices not given
  PowerSummary power;
  std::uint64_t faults_met = 0, faults_met_scripted = 0, faults_met_arm_relative = 0;
  std::vector<std::string> faults_never_met;  // scripted ones, each with the reason, for people
  std::array<double, readers::kBucketCount> activity_chip_seconds{};
  readers::TokenTotals token_totals; // at the end
  readers::SyncTotals syncs;         // at the end
  NominalSummary nominal;
  std::optional<ProxySummary> proxy; // none: a run without mathematics
  std::string clock;                 // of the failures: wall, stepping, mixed or none
  std::uint64_t recoveries = 0;            // lives that learners opened after losing their state
  std::uint64_t recoveries_in_merges = 0;  // of those, how many contributed to a merge again
  RecoverySummary recovery_times;
  std::uint64_t violation_count = 0;
  std::vector<std::string> violations;
  std::vector<readers::Stall> liveness;    // who was in no merge for longer than the bound
  std::optional<Nanoseconds> liveness_bound;
};

// Fills every field that the ledgers know; leaves scenario, arm, seed, version, hashes, losses, proxy,
// clock, recovery_times and `nominal.parameters` alone. Marks get their dates and tokens, no loss.
// Requires: the account has seen RunEnded; else std::logic_error.
void fill(Summary& summary, const tape::RunShape& shape, const readers::RunAccount& account);

// Text of summary.json: a fixed order of keys, two spaces of indentation, a line feed at the end.
// Numbers read back to the same value.
std::string to_json(const Summary& summary);

// summary.json that is missing a key, or is of another format. what() names the key.
class SummaryError : public std::runtime_error {
 public:
  explicit SummaryError(const std::string& what) : std::runtime_error("summary: " + what) {}
};

// Errors: SummaryError.
Summary from_json(std::string_view text);

}  // namespace sim::report

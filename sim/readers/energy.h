// sim/readers/energy.h: the joules of a run, from its account of chip-time.
//
//   E = [ sum over chips of W (t_busy + stall t_stalled + idle t_idle + off t_off)
//         + host_w (t_busy + t_stalled + t_idle + off t_off) ] * pue + wan * 8 * bytes
//
// W is a chip's power at full work. Source: ours, after the accounting of federated-learning energy
// studies; hosts stand inside the PUE, transport outside. The ledger's buckets fall into states:
//   busy     computation, also of steps that were broken off or are under way
//   stalled  the job is there and waits: for the slowest slice of a step, exposed communication,
//            detection, down- and upscaling, checkpoints, state copies, barriers, network
//   idle     the job is not there: starting, restarting, waiting for repair or to be taken back,
//            finished, unused
//   off      failed
#pragma once

#include <cstdint>
#include <optional>

#include "sim/readers/activity_ledger.h"
#include "sim/readers/token_ledger.h"

namespace sim::readers {

// Shares are of a chip's watts at full work. Defaults are those of [energy].
struct EnergyOptions {
  double stall = 0.2;
  double stall_low = 0.2, stall_high = 1.0;  // reported beside it
  double idle = 0.1;
  double off = 0.0;
  double host_w = 100.0;  // per chip: its share of host, network card, switch
  double pue = 1.1;
  double wan_nj_per_bit = 20.0;
};

// Everything in joules, power usage effectiveness included where it applies.
struct Energy {
  double busy = 0, stalled = 0, idle = 0, unused = 0, off = 0;  // of chips
  double host = 0;
  double wan = 0;
  double total = 0;
  // Of the total: steps that were rolled back or broken off, and the standing steps' mean joules per
  // token for the tokens that were discarded. Chips and their hosts.
  double wasted = 0;
};

// None unless the watts of all chips are known.
// Units: `wan_bytes` carried between regions; `stall` the share to charge a stalled chip with.
std::optional<Energy> energy(const tape::RunShape& shape, const EnergyOptions& options, double stall,
                             const ActivityTotals& activity, const TokenTotals& tokens,
                             std::int64_t wan_bytes);

// No chip of the fleet ever draws more, transport apart; W.
double power_max_w(const tape::RunShape& shape, const EnergyOptions& options);

}  // namespace sim::readers

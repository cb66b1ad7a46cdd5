// sim/readers/energy.cpp: formulas only; energy.h has them in symbols.
#include "sim/readers/energy.h"

#include <algorithm>
#include <numeric>

namespace sim::readers {
namespace {

enum class State : std::uint8_t { kBusy, kStalled, kIdle, kUnused, kOff };

State state_of(Bucket bucket) {
  switch (bucket) {
    case Bucket::kCompute:
    case Bucket::kRolledBack:  // its communication and waiting are taken out again below
    case Bucket::kInterruptedStep:
    case Bucket::kUnfinishedStep: return State::kBusy;
    case Bucket::kWaitingForSlowest:
    case Bucket::kExposedCommunication:
    case Bucket::kDetecting:
    case Bucket::kDownscaling:
    case Bucket::kUpscaling:
    case Bucket::kLoadingCheckpoint:
    case Bucket::kSavingCheckpoint:
    case Bucket::kCopyingState:
    case Bucket::kWaitingForMerge:
    case Bucket::kWaitingForNetwork: return State::kStalled;
    case Bucket::kStarting:
    case Bucket::kRestarting:
    case Bucket::kWaitingForRepair:
    case Bucket::kWaitingToJoin:
    case Bucket::kFinished: return State::kIdle;
    case Bucket::kUnused: return State::kUnused;
    case Bucket::kFailed: return State::kOff;
  }
  return State::kBusy;
}

double joules(ChipNanoseconds picojoules) { return static_cast<double>(picojoules) / 1e12; }

// A share of `wasted` tokens in the work that stands.
double discarded_share(const TokenTotals& tokens) {
  const std::uint64_t standing = tokens.processed - tokens.rolled_back;
  const std::uint64_t discarded =
      std::accumulate(tokens.discarded.begin(), tokens.discarded.end(), std::uint64_t{0});
  if (standing == 0) return 0;
  return static_cast<double>(discarded) / static_cast<double>(standing);
}

bool watts_are_known(const tape::RunShape& shape) {
  return std::ranges::all_of(shape.slices, [](const auto& slice) { return slice.milliwatts > 0; });
}

}  // namespace

std::optional<Energy> energy(const tape::RunShape& shape, const EnergyOptions& options, double stall,
                             const ActivityTotals& activity, const TokenTotals& tokens,
                             std::int64_t wan_bytes) {
  if (!watts_are_known(shape)) return std::nullopt;
  const auto chips_j = [&](Bucket bucket) {
    return joules(activity.full_work_pj[bucket]) * options.pue;
  };
  const auto host_j = [&](Bucket bucket) {
    return to_chip_seconds(activity.buckets[bucket]) * options.host_w * options.pue;
  };
  Energy result;
  for (int b = 0; b < kBucketCount; ++b) {
    const auto bucket = static_cast<Bucket>(b);
    result.host += host_j(bucket) * (bucket == Bucket::kFailed ? options.off : 1.0);
    switch (state_of(bucket)) {
      case State::kBusy: result.busy += chips_j(bucket); break;
      case State::kStalled: result.stalled += stall * chips_j(bucket); break;
      case State::kIdle: result.idle += options.idle * chips_j(bucket); break;
      case State::kUnused: result.unused += options.idle * chips_j(bucket); break;
      case State::kOff: result.off += options.off * chips_j(bucket); break;
    }
  }
  const double undone_stalled = joules(activity.rolled_back_stalled_pj) * options.pue;
  result.busy -= undone_stalled;
  result.stalled += stall * undone_stalled;
  result.wan = options.wan_nj_per_bit * 1e-9 * 8.0 * static_cast<double>(wan_bytes);
  result.total = result.busy + result.stalled + result.idle + result.unused + result.off +
                 result.host + result.wan;

  const double undone = chips_j(Bucket::kRolledBack) - (1.0 - stall) * undone_stalled +
                        host_j(Bucket::kRolledBack) + chips_j(Bucket::kInterruptedStep) +
                        host_j(Bucket::kInterruptedStep);
  const double standing = chips_j(Bucket::kCompute) + host_j(Bucket::kCompute) +
                          stall * chips_j(Bucket::kWaitingForSlowest) +
                          host_j(Bucket::kWaitingForSlowest) +
                          stall * chips_j(Bucket::kExposedCommunication) +
                          host_j(Bucket::kExposedCommunication);
  result.wasted = undone + discarded_share(tokens) * standing;
  return result;
}

double power_max_w(const tape::RunShape& shape, const EnergyOptions& options) {
  const double share_max =
      std::max({1.0, options.stall, options.idle, options.off});
  double watts = 0;
  for (const tape::SliceShape& slice : shape.slices) {
    watts += static_cast<double>(slice.chips) *
             (static_cast<double>(slice.milliwatts) / 1e3 * share_max +
              options.host_w * std::max(1.0, options.off));
  }
  return watts * options.pue;
}

}  // namespace sim::readers

// sim/readers/bucket.h: where a chip's time can go; every nanosecond of every chip is in one bucket.
//
// Stepping is split into six by what became of the step; every other activity has a bucket of its
// own; a failed or waiting slice and an unused one have theirs, whatever the learner does.
#pragma once

#include <cstdint>
#include <string_view>

#include "sim/tape/fact.h"

namespace sim::readers {

enum class Bucket : std::uint8_t {
  kCompute,               // computation inside steps that stand
  kWaitingForSlowest,     // inside those steps, of slices that have computed, for the slowest one
  kExposedCommunication,  // the rest of those steps
  kRolledBack,            // whole steps that a rollback undid
  kInterruptedStep,       // stepping time of which no finished step tells
  kUnfinishedStep,        // the step under way when the account is taken
  kStarting,              // before the learner's first activity
  kDetecting,
  kDownscaling,
  kUpscaling,
  kRestarting,
  kLoadingCheckpoint,
  kSavingCheckpoint,
  kCopyingState,
  kWaitingForRepair,
  kWaitingForMerge,
  kWaitingForNetwork,
  kFinished,
  kFailed,                // of failed slices
  kWaitingToJoin,         // of repaired slices that their learner has not taken back
  kUnused,                // of slices that no learner has
};
constexpr int kBucketCount = static_cast<int>(Bucket::kUnused) + 1;

// snake_case, as in summary.json and activity.csv.
std::string_view bucket_name(Bucket bucket);

// The bucket of a learner's activity. Requires: not kStepping, which has six.
Bucket bucket_of(tape::Activity activity);

}  // namespace sim::readers

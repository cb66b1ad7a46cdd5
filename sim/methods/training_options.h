// sim/methods/training_options.h: one arm's training method, as plain values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "optim/inner_optimizer.h"
#include "optim/merge.h"
#include "optim/outer_optimizer.h"
#include "optim/wire_format.h"
#include "sim/base/time.h"

namespace sim::methods {

using base::Nanoseconds;

enum class MethodKind : std::uint8_t { kDataParallel, kDecoupledDiloco, kStreamingDiloco, kDiloco };
enum class LearnerSplit : std::uint8_t { kIslands, kOne, kGroups };
enum class BatchSplit : std::uint8_t { kEqual, kByChips, kBySpeed };
enum class SecondHit : std::uint8_t { kRestart, kAbsorb };
enum class FailureActs : std::uint8_t { kAtOnce, kStepEnd };
// Decoupled: skip | merge a fragment that finds no room. Streaming: block | skip | stale, what a learner
// does with a merge that is not there tau steps after its take.
enum class LatePolicy : std::uint8_t { kSkip, kMerge, kBlock, kStale };
// What learners that meet at barriers do about one that is gone. Discard: those that are left throw the
// round away and begin it again from what they last merged.
enum class LossPolicy : std::uint8_t { kWait, kSkip, kStale, kDiscard };
// Where a job or learner whose program died gets its state from; the same words for every method.
//   host-memory  its hosts' copy of the last finished step, where one of them lives (chips and slices
//                leave the host, islands and regions take it); else as peer
//   peer         a replica that is up elsewhere; where there is none, as checkpoint
//   checkpoint   the last durable save in the store; with none, from the beginning
enum class Recovery : std::uint8_t { kHostMemory, kPeer, kCheckpoint };
enum class FragmentPartition : std::uint8_t { kBalanced, kStrided, kSequential };
enum class Adoption : std::uint8_t { kOnArrival, kPinned };
enum class GraceKind : std::uint8_t { kNone, kAdaptive };
enum class SyncerPlacement : std::uint8_t { kPerLearner, kCentral };
enum class OnSyncerKill : std::uint8_t { kPause, kLose };
enum class ReduceKind : std::uint8_t { kRing, kTwoLevel };

// How a job of slices reacts to losing and regaining them. All durations are fixed and its own.
struct ElasticityOptions {
  bool elastic;            // false: any loss stops the job until the slices are back
  Nanoseconds detection;   // from the failure until others and the job itself notice
  Nanoseconds downscale;   // elastic: stop after a loss
  Nanoseconds upscale;     // elastic: stop to take slices back
  Nanoseconds restart;     // non-elastic: program start once the slices are back
  SecondHit second_hit;    // a loss during a reconfiguration
  FailureActs failure_acts;
  bool join_state;         // upscale across regions also moves the state over the links
  Recovery recovery;       // where the state comes from after a loss that stopped everything
  Nanoseconds timeout;     // how long a collective hangs on a link that carries nothing more
};

struct CheckpointOptions {
  Nanoseconds every;    // 0: no checkpoints
  Nanoseconds save;     // blocking part of saving
  Nanoseconds load;     // reading the last one back
  bool redo;            // a restart loses the steps since the last checkpoint
};

struct SnapshotOptions {
  std::int64_t every;   // T_c in the syncer's steps; 0: no snapshots
};

struct SyncerOptions {
  SyncerPlacement placement;
  std::string region;          // central: where it stands
  double nic_bytes_per_s;      // central: its own rate in each direction
  double merge_bytes_per_s;    // rate at which contributions are folded
  OnSyncerKill on_kill;
};

struct TrainingOptions {
  std::string name;            // of the arm
  MethodKind method;
  LearnerSplit learners;
  std::int64_t groups;         // kGroups: M equal groups of all slices
  bool span;                   // a learner's slices may lie in several regions
  BatchSplit batch_split;
  std::vector<std::string> use;  // "region:NAME" or "island:NAME"; empty: everything
  Nanoseconds step_time;       // 0: from model, chips, peak and utilization
  ElasticityOptions elasticity;
  CheckpointOptions checkpoint;

  // Among the slices of one learner.
  ReduceKind reduce;
  std::int64_t buckets;        // gradient buckets that become ready evenly through the backward pass

  // Methods that merge: Decoupled DiLoCo, and those whose learners meet at barriers.
  std::int64_t fragments;      // P
  std::int64_t sync_every;     // H
  std::int64_t overlap_steps;  // tau
  bool overlap_fit = false;    // overlap_steps = "fit": loading puts the number in
  std::int64_t first_take;     // fragment p is due at steps t with (t - first_take) mod H = floor(p H / P)
  FragmentPartition partition;
  LossPolicy on_loss;
  std::int64_t quorum;         // K
  GraceKind grace;
  double grace_margin;         // gamma
  double tracking;             // weight of the newest value in the moving averages
  LatePolicy late;
  Adoption adoption;
  double mixing;               // alpha: weight of the local value at adoption
  optim::WireFormat wire;      // in which outer gradients and merged fragments travel
  std::int64_t metadata_bytes; // per learner and step
  std::int64_t resume_within;  // steps: a shorter outage resumes stale, a longer one copies a peer
  SyncerOptions syncer;
  SnapshotOptions snapshot;

  optim::InnerOptions inner;
  optim::OuterOptions outer;
  optim::MergeOptions merge;
  bool token_weights;          // c_tokens^2 / c_steps; false: equal weights
};

// Learners meet at barriers, without a syncer: streaming DiLoCo and DiLoCo.
inline bool meets_at_barriers(MethodKind method) {
  return method == MethodKind::kStreamingDiloco || method == MethodKind::kDiloco;
}

}  // namespace sim::methods

// sim/tape/fact.h: the small typed facts of which a tape consists.
//
// A fact is what happened, never what to do about it. Facts come in time order; whatever one fact
// opens another closes (FragmentTaken by FragmentMerged or FragmentLost, TransferStarted by
// TransferDone, StateSent by StateCopied or StateLost, SnapshotBegun by SnapshotEnded, FaultStarted by
// FaultEnded; or the end of the run), so that readers free memory without guessing.
//
// A fact is one cache line. The design asked for 48 bytes; the rest holds the start of a stretch
// of steps apart from the date at which the stretch is told, so that a stretch can be cut by a
// failure and still be written in time order.
#pragma once

#include <cstdint>
#include <type_traits>

#include "sim/base/time.h"

namespace sim::tape {

using base::Nanoseconds;

enum class Kind : std::uint8_t {
  kStepsDone,
  kActivityChanged,
  kSliceChanged,
  kFragmentTaken,
  kFragmentMerged,
  kFragmentLost,
  kFragmentSkipped,
  kFragmentAdopted,
  kStateSent,
  kStateCopied,
  kStateLost,
  kCheckpointSaved,
  kRolledBack,
  kGlobalRestored,
  kTransferStarted,
  kTransferDone,
  kFaultStarted,
  kFaultEnded,
  kGraceDecided,
  kEvaluationDue,
  kMarkReached,
  kRunEnded,
  kSnapshotBegun,
  kSnapshotSaved,
  kSnapshotEnded,
  kDecided,
  kFragmentKept,
  kFragmentDropped,
  kFragmentRestored,
  kMemberComputed,
  kBroadcastChanged,
};
constexpr Kind kLastKind = Kind::kBroadcastChanged;
constexpr int kKindCount = static_cast<int>(kLastKind) + 1;

// What a learner does; its healthy, joined slices do it with it.
enum class Activity : std::uint8_t {
  kStepping,          // split by the ledger: compute, exposed communication, interrupted, ...
  kDetecting,         // a slice is gone and the job has not noticed
  kDownscaling,
  kUpscaling,
  kRestarting,        // process start, program start
  kLoadingCheckpoint,
  kSavingCheckpoint,
  kCopyingState,      // recovery from a peer
  kWaitingForRepair,  // too few healthy slices
  kWaitingForMerge,   // a synchronous method's barrier
  kWaitingForNetwork,
  kFinished,
};
constexpr int kActivityCount = static_cast<int>(Activity::kFinished) + 1;

enum class SliceState : std::uint8_t {
  kJoined,   // part of its learner: does what the learner does
  kFailed,   // down
  kWaiting,  // healthy again, not yet taken back by its learner
};

enum class TrafficClass : std::uint8_t {
  kGradient, kFragment, kControl, kRecovery, kCheckpoint, kJoin,
};
constexpr int kTrafficClassCount = static_cast<int>(TrafficClass::kJoin) + 1;

enum class TransferStatus : std::uint8_t { kOk, kPeerDown, kLinkDown, kTimeout, kCancelled };

enum class LossReason : std::uint8_t {
  kLearnerDied,      // the contributor's incarnation ended
  kUnreachable,      // no path from the learner to the merge
  kSyncerDied,
  kMergeFailed,
  kInFlightLimit,    // ceil(tau) syncs were in flight already
  kNoQuorum,
  kDonorDied,
  kReceiverDied,
};

enum class FaultKind : std::uint8_t { kKill, kRateCut, kPartition };
enum class TargetKind : std::uint8_t { kChip, kSlice, kIsland, kRegion, kLink, kSyncer };
enum class MarkKind : std::uint8_t { kTime, kTokens, kEnergy, kCost, kLoss };
constexpr int kMarkKindCount = static_cast<int>(MarkKind::kLoss) + 1;
// What the world asked of the mathematics.
enum class Question : std::uint8_t { kLossReached };

// `count` homogeneous steps, back to back: step i (0 <= i < count) ran from start + i * period to
// start + (i + 1) * period with the slices then joined, on the slots of data step first_step + i.
struct StepsDone {
  Nanoseconds start;
  Nanoseconds period;
  Nanoseconds compute;          // of each step; the rest of the period is exposed communication
  std::uint32_t first_step;     // global step index that keys the data
  std::uint32_t count;
  std::uint32_t tokens;         // nominal tokens of one of these steps (joined slices only)
  std::uint32_t schedule_step;  // place of the first step in the learning-rate schedule
  std::uint16_t learner;
  std::uint16_t incarnation;
};
struct ActivityChanged {
  std::uint16_t learner;
  Activity activity;
};
struct SliceChanged {
  std::uint32_t slice;
  SliceState state;
};
// The syncer reads a learner's fragment, as it stands after the learner's last finished step.
struct FragmentTaken {
  std::uint64_t counted_tokens;   // since the learner last received this fragment: c_tokens
  std::uint32_t counted_steps;    // c_steps
  std::uint32_t sync;             // names the merge that this take is for
  std::uint32_t step;             // the learner's step
  std::uint32_t held_version;     // global version that the learner last received
  std::uint16_t learner;
  std::uint16_t incarnation;
  std::uint16_t fragment;
};
struct Contributor {
  double weight;  // not normalised
  std::uint16_t learner;
  std::uint16_t incarnation;
};
// Theta_p becomes `version` of `epoch`. The contributors, ascending by learner, are exactly the
// takes of this sync that were not lost. The pointer is valid during the call only.
struct FragmentMerged {
  const Contributor* contributors;
  Nanoseconds overrun;  // by how much quorum + grace + sync exceeded tau steps; 0 when they fitted
  std::uint32_t contributor_count;
  std::uint32_t sync;
  std::uint32_t version;  // counts from 1 within the epoch
  std::uint32_t step;     // the syncer's global step
  std::uint16_t fragment;
  std::uint16_t epoch;
};
struct FragmentLost {
  std::uint32_t sync;
  std::uint16_t learner;
  std::uint16_t fragment;
  LossReason reason;
};
struct FragmentSkipped {  // due, and not even taken
  std::uint32_t step;
  std::uint16_t fragment;
  LossReason reason;
};
struct FragmentAdopted {
  std::uint32_t sync;     // the merge that made the version
  std::uint32_t version;
  std::uint32_t step;     // the learner's step
  std::uint32_t lag_steps;  // learner steps between take and adoption (0 when it did not contribute)
  std::uint16_t learner;
  std::uint16_t incarnation;
  std::uint16_t fragment;
  std::uint16_t epoch;
};
// The donor's parameters and inner-optimizer state are read now (donor kNoLearner: the syncer's
// parameters with fresh inner state) ...
struct StateSent {
  std::uint32_t transfer;
  std::uint16_t donor;
  std::uint16_t receiver;
};
// ... and become the receiver's, whose new life this opens.
struct StateCopied {
  std::uint32_t transfer;
  std::uint32_t step;  // the receiver goes on after this step
  std::uint16_t donor;
  std::uint16_t receiver;
  std::uint16_t incarnation;
};
struct StateLost {
  std::uint32_t transfer;
  std::uint16_t donor;
  std::uint16_t receiver;
  LossReason reason;
};
// Of a learner's state; of kNoLearner: of the global fragments and the outer optimizer's state.
struct CheckpointSaved {
  std::uint32_t step;  // the last step that it holds
  std::uint16_t learner;
};
// Steps after to_step are undone: the learner is as it was when the checkpoint of to_step was
// saved (0: the initial state).
struct RolledBack {
  std::uint32_t to_step;
  std::uint16_t learner;
  std::uint16_t incarnation;  // the new life
};
// The global state is lost everywhere and a new epoch begins for every fragment: the learner's parameters become
// global with zero outer momentum; of kNoLearner: the last global checkpoint does, with the momentum
// that it holds (none was saved: the initial state), and what was merged since is undone.
struct GlobalRestored {
  std::uint16_t learner;
  std::uint16_t epoch;
};
struct TransferStarted {
  std::int64_t bytes;
  std::uint32_t transfer;
  std::uint32_t exchange;  // the same for all that began as one and end as one
  std::uint16_t source_region;
  std::uint16_t target_region;
  TrafficClass traffic;
};
struct TransferDone {
  std::int64_t bytes;    // asked for
  std::int64_t carried;  // left the source; equal to bytes when status is ok
  Nanoseconds start;
  std::uint32_t transfer;
  std::uint16_t source_region;
  std::uint16_t target_region;
  TrafficClass traffic;
  TransferStatus status;
};
// Target of a fault of the syncer that stands in one place and belongs to no learner.
constexpr std::uint32_t kCentralSyncer = UINT32_MAX;

struct FaultStarted {
  Nanoseconds lasts;     // kNever: for good
  double rate_factor;    // of a rate cut
  std::uint32_t fault;
  std::uint32_t target;  // index of the slice (also for a chip), island, region, link; of a syncer its
                         // learner's, or kCentralSyncer
  FaultKind kind;
  TargetKind target_kind;
  std::uint8_t scripted;
  std::uint8_t arm_relative;
};
struct FaultEnded {
  std::uint32_t fault;
};
struct GraceDecided {
  Nanoseconds step_estimate;
  Nanoseconds quorum_estimate;
  Nanoseconds sync_estimate;
  Nanoseconds grace;  // how long the syncer may wait for late reporters
  std::uint32_t step;
};
struct EvaluationDue {
  std::uint64_t tokens;  // nominal, consumed by now: processed, neither rolled back nor discarded
  std::uint32_t index;
};
struct MarkReached {
  std::uint64_t tokens;  // consumed
  MarkKind mark;
};
struct RunEnded {
  std::uint64_t tokens;  // consumed
};
// A consistent snapshot (arXiv:2604.21428, Appendix E.2). The syncer's cut: merges after this fact are
// not in it. At most one is open; the next one, or the end of the run, ends it.
struct SnapshotBegun {
  std::uint32_t snapshot;  // counts from 1
  std::uint32_t step;      // the syncer's, a multiple of the period
};
// A learner's cut: written before it adopts anything that was merged after SnapshotBegun. A learner
// without one lost its state meanwhile and has no part in the snapshot.
struct SnapshotSaved {
  std::uint32_t snapshot;
  std::uint32_t step;  // the learner's
  std::uint16_t learner;
  std::uint16_t incarnation;
};
struct SnapshotEnded {
  std::uint32_t snapshot;
  std::uint8_t complete;  // every live learner answered; else it was overtaken by the next one
};
// A syncer's shard is left out of the merge that the next FragmentMerged of this fragment tells: it keeps
// the version that was the newest so far, with the outer optimizer's state of that version.
struct FragmentKept {
  std::uint32_t version;
  std::uint16_t fragment;
  std::uint16_t epoch;
  std::uint16_t shard;
};
// That older version is gone: the shard has received the newest one, or lost its memory.
struct FragmentDropped {
  std::uint16_t fragment;
  std::uint16_t shard;
};
// No shard that lives holds the newest version: the older one that this shard keeps becomes the global
// one, what was merged since is undone, and the fragment begins a new epoch.
struct FragmentRestored {
  std::uint32_t version;  // of the epoch before
  std::uint16_t fragment;
  std::uint16_t epoch;    // the new one
  std::uint16_t shard;
};
// The answer to a question that control flow hangs on, so that a replay needs no mathematics.
struct Decided {
  double value;         // what the answer rests on: the loss
  std::uint32_t index;  // of the evaluation that was asked about
  Question question;
  std::uint8_t yes;
};

// How long the learner's joined slices on one island computed in the step that the next StepsDone of
// the learner tells; the others computed on, and it waited. Told only where islands draw their own
// step times; else SliceShape::step_time says it.
struct MemberComputed {
  Nanoseconds compute;  // of the slowest of them
  std::uint32_t island;
  std::uint16_t learner;
};

// A merge sends its version to every learner. Told where that is not so: a version that no learner can
// adopt any more need not be kept.
struct BroadcastChanged {
  std::uint32_t sync;  // the merge that made the version
  std::uint16_t learner;
  std::uint16_t fragment;
  std::uint8_t sent;   // 0: none is sent to the learner, or it was lost on its way; 1: one more is sent
};

struct Fact {
  Nanoseconds at;
  union {
    StepsDone steps_done;
    ActivityChanged activity_changed;
    SliceChanged slice_changed;
    FragmentTaken fragment_taken;
    FragmentMerged fragment_merged;
    FragmentLost fragment_lost;
    FragmentSkipped fragment_skipped;
    FragmentAdopted fragment_adopted;
    StateSent state_sent;
    StateCopied state_copied;
    StateLost state_lost;
    CheckpointSaved checkpoint_saved;
    RolledBack rolled_back;
    GlobalRestored global_restored;
    TransferStarted transfer_started;
    TransferDone transfer_done;
    FaultStarted fault_started;
    FaultEnded fault_ended;
    GraceDecided grace_decided;
    EvaluationDue evaluation_due;
    MarkReached mark_reached;
    RunEnded run_ended;
    SnapshotBegun snapshot_begun;
    SnapshotSaved snapshot_saved;
    SnapshotEnded snapshot_ended;
    Decided decided;
    FragmentKept fragment_kept;
    FragmentDropped fragment_dropped;
    FragmentRestored fragment_restored;
    MemberComputed member_computed;
    BroadcastChanged broadcast_changed;
  };
  Kind kind;

  Fact() : at(0), steps_done{}, kind(Kind::kRunEnded) {}
  Fact(Nanoseconds date, const StepsDone& f) : at(date), steps_done(f), kind(Kind::kStepsDone) {}
  Fact(Nanoseconds date, const ActivityChanged& f)
      : at(date), activity_changed(f), kind(Kind::kActivityChanged) {}
  Fact(Nanoseconds date, const SliceChanged& f)
      : at(date), slice_changed(f), kind(Kind::kSliceChanged) {}
  Fact(Nanoseconds date, const FragmentTaken& f)
      : at(date), fragment_taken(f), kind(Kind::kFragmentTaken) {}
  Fact(Nanoseconds date, const FragmentMerged& f)
      : at(date), fragment_merged(f), kind(Kind::kFragmentMerged) {}
  Fact(Nanoseconds date, const FragmentLost& f)
      : at(date), fragment_lost(f), kind(Kind::kFragmentLost) {}
  Fact(Nanoseconds date, const FragmentSkipped& f)
      : at(date), fragment_skipped(f), kind(Kind::kFragmentSkipped) {}
  Fact(Nanoseconds date, const FragmentAdopted& f)
      : at(date), fragment_adopted(f), kind(Kind::kFragmentAdopted) {}
  Fact(Nanoseconds date, const StateSent& f) : at(date), state_sent(f), kind(Kind::kStateSent) {}
  Fact(Nanoseconds date, const StateCopied& f) : at(date), state_copied(f), kind(Kind::kStateCopied) {}
  Fact(Nanoseconds date, const StateLost& f) : at(date), state_lost(f), kind(Kind::kStateLost) {}
  Fact(Nanoseconds date, const CheckpointSaved& f)
      : at(date), checkpoint_saved(f), kind(Kind::kCheckpointSaved) {}
  Fact(Nanoseconds date, const RolledBack& f) : at(date), rolled_back(f), kind(Kind::kRolledBack) {}
  Fact(Nanoseconds date, const GlobalRestored& f)
      : at(date), global_restored(f), kind(Kind::kGlobalRestored) {}
  Fact(Nanoseconds date, const TransferStarted& f)
      : at(date), transfer_started(f), kind(Kind::kTransferStarted) {}
  Fact(Nanoseconds date, const TransferDone& f) : at(date), transfer_done(f), kind(Kind::kTransferDone) {}
  Fact(Nanoseconds date, const FaultStarted& f) : at(date), fault_started(f), kind(Kind::kFaultStarted) {}
  Fact(Nanoseconds date, const FaultEnded& f) : at(date), fault_ended(f), kind(Kind::kFaultEnded) {}
  Fact(Nanoseconds date, const GraceDecided& f) : at(date), grace_decided(f), kind(Kind::kGraceDecided) {}
  Fact(Nanoseconds date, const EvaluationDue& f)
      : at(date), evaluation_due(f), kind(Kind::kEvaluationDue) {}
  Fact(Nanoseconds date, const MarkReached& f) : at(date), mark_reached(f), kind(Kind::kMarkReached) {}
  Fact(Nanoseconds date, const RunEnded& f) : at(date), run_ended(f), kind(Kind::kRunEnded) {}
  Fact(Nanoseconds date, const SnapshotBegun& f)
      : at(date), snapshot_begun(f), kind(Kind::kSnapshotBegun) {}
  Fact(Nanoseconds date, const SnapshotSaved& f)
      : at(date), snapshot_saved(f), kind(Kind::kSnapshotSaved) {}
  Fact(Nanoseconds date, const SnapshotEnded& f)
      : at(date), snapshot_ended(f), kind(Kind::kSnapshotEnded) {}
  Fact(Nanoseconds date, const Decided& f) : at(date), decided(f), kind(Kind::kDecided) {}
  Fact(Nanoseconds date, const FragmentKept& f)
      : at(date), fragment_kept(f), kind(Kind::kFragmentKept) {}
  Fact(Nanoseconds date, const FragmentDropped& f)
      : at(date), fragment_dropped(f), kind(Kind::kFragmentDropped) {}
  Fact(Nanoseconds date, const FragmentRestored& f)
      : at(date), fragment_restored(f), kind(Kind::kFragmentRestored) {}
  Fact(Nanoseconds date, const MemberComputed& f)
      : at(date), member_computed(f), kind(Kind::kMemberComputed) {}
  Fact(Nanoseconds date, const BroadcastChanged& f)
      : at(date), broadcast_changed(f), kind(Kind::kBroadcastChanged) {}
};

static_assert(std::is_trivially_copyable_v<Fact>);
static_assert(sizeof(Fact) == 64);

}  // namespace sim::tape

// sim/tape/fact_code.cpp: the fields of every fact, listed once for both directions.
#include "sim/tape/fact_code.h"

namespace sim::tape {
namespace {

constexpr Activity kLastActivity = Activity::kFinished;
constexpr LossReason kLastReason = LossReason::kReceiverDied;

template <class C> void code_fact(C& c, StepsDone& f, Nanoseconds at) {
  code_near(c, f.start, at);
  code_all(c, f.period, f.compute, f.first_step, f.count, f.tokens, f.schedule_step, f.learner,
           f.incarnation);
}
template <class C> void code_fact(C& c, ActivityChanged& f, Nanoseconds) {
  code(c, f.learner);
  code_enum(c, f.activity, kLastActivity);
}
template <class C> void code_fact(C& c, SliceChanged& f, Nanoseconds) {
  code(c, f.slice);
  code_enum(c, f.state, SliceState::kWaiting);
}
template <class C> void code_fact(C& c, FragmentTaken& f, Nanoseconds) {
  code_all(c, f.counted_tokens, f.counted_steps, f.sync, f.step, f.held_version, f.learner,
           f.incarnation, f.fragment);
}
template <class C> void code_fact(C& c, FragmentLost& f, Nanoseconds) {
  code_all(c, f.sync, f.learner, f.fragment);
  code_enum(c, f.reason, kLastReason);
}
template <class C> void code_fact(C& c, FragmentSkipped& f, Nanoseconds) {
  code_all(c, f.step, f.fragment);
  code_enum(c, f.reason, kLastReason);
}
template <class C> void code_fact(C& c, FragmentAdopted& f, Nanoseconds) {
  code_all(c, f.sync, f.version, f.step, f.lag_steps, f.learner, f.incarnation, f.fragment, f.epoch);
}
template <class C> void code_fact(C& c, StateSent& f, Nanoseconds) {
  code_all(c, f.transfer, f.donor, f.receiver);
}
template <class C> void code_fact(C& c, StateCopied& f, Nanoseconds) {
  code_all(c, f.transfer, f.step, f.donor, f.receiver, f.incarnation);
}
template <class C> void code_fact(C& c, StateLost& f, Nanoseconds) {
  code_all(c, f.transfer, f.donor, f.receiver);
  code_enum(c, f.reason, kLastReason);
}
template <class C> void code_fact(C& c, CheckpointSaved& f, Nanoseconds) {
  code_all(c, f.step, f.learner);
}
template <class C> void code_fact(C& c, RolledBack& f, Nanoseconds) {
  code_all(c, f.to_step, f.learner, f.incarnation);
}
template <class C> void code_fact(C& c, GlobalRestored& f, Nanoseconds) {
  code_all(c, f.learner, f.epoch);
}
// Exchanges came with format 3: before, each transfer is taken for one of its own.
template <class C>
void code_fact(C& c, TransferStarted& f, std::uint64_t format) {
  code_all(c, f.bytes, f.transfer);
  if (format >= 3) {
    code(c, f.exchange);
  } else {
    f.exchange = f.transfer;
  }
  code_all(c, f.source_region, f.target_region);
  code_enum(c, f.traffic, TrafficClass::kJoin);
}
template <class C> void code_fact(C& c, TransferDone& f, Nanoseconds at) {
  code_all(c, f.bytes, f.carried);
  code_near(c, f.start, at);
  code_all(c, f.transfer, f.source_region, f.target_region);
  code_enum(c, f.traffic, TrafficClass::kJoin);
  code_enum(c, f.status, TransferStatus::kCancelled);
}
template <class C> void code_fact(C& c, FaultStarted& f, Nanoseconds) {
  code_all(c, f.lasts, f.rate_factor, f.fault, f.target);
  code_enum(c, f.kind, FaultKind::kPartition);
  code_enum(c, f.target_kind, TargetKind::kSyncer);
  code_all(c, f.scripted, f.arm_relative);
}
template <class C> void code_fact(C& c, FaultEnded& f, Nanoseconds) { code(c, f.fault); }
template <class C> void code_fact(C& c, GraceDecided& f, Nanoseconds) {
  code_all(c, f.step_estimate, f.quorum_estimate, f.sync_estimate, f.grace, f.step);
}
template <class C> void code_fact(C& c, FragmentKept& f, Nanoseconds) {
  code_all(c, f.version, f.fragment, f.epoch, f.shard);
}
template <class C> void code_fact(C& c, FragmentDropped& f, Nanoseconds) {
  code_all(c, f.fragment, f.shard);
}
template <class C> void code_fact(C& c, FragmentRestored& f, Nanoseconds) {
  code_all(c, f.version, f.fragment, f.epoch, f.shard);
}
template <class C> void code_fact(C& c, EvaluationDue& f, Nanoseconds) {
  code_all(c, f.tokens, f.index);
}
template <class C> void code_fact(C& c, MarkReached& f, Nanoseconds) {
  code(c, f.tokens);
  code_enum(c, f.mark, MarkKind::kLoss);
}
template <class C> void code_fact(C& c, RunEnded& f, Nanoseconds) { code(c, f.tokens); }
template <class C> void code_fact(C& c, SnapshotBegun& f, Nanoseconds) {
  code_all(c, f.snapshot, f.step);
}
template <class C> void code_fact(C& c, SnapshotSaved& f, Nanoseconds) {
  code_all(c, f.snapshot, f.step, f.learner, f.incarnation);
}
template <class C> void code_fact(C& c, SnapshotEnded& f, Nanoseconds) {
  code_all(c, f.snapshot, f.complete);
}
template <class C> void code_fact(C& c, Decided& f, Nanoseconds) {
  code_all(c, f.value, f.index);
  code_enum(c, f.question, Question::kLossReached);
  code(c, f.yes);
}
template <class C> void code_fact(C& c, MemberComputed& f, Nanoseconds) {
  code_all(c, f.compute, f.island, f.learner);
}
template <class C> void code_fact(C& c, BroadcastChanged& f, Nanoseconds) {
  code_all(c, f.sync, f.learner, f.fragment, f.sent);
}

template <class C> void code_contributor(C& c, Contributor& f) {
  code_all(c, f.weight, f.learner, f.incarnation);
}
template <class C>
void code_merge(C& c, FragmentMerged& f, std::vector<Contributor>& contributors) {
  code_all(c, f.overrun, f.sync, f.version, f.step, f.fragment, f.epoch);
  code_list(c, contributors, [&c](Contributor& each) { code_contributor(c, each); });
  f.contributors = contributors.data();
  f.contributor_count = static_cast<std::uint32_t>(contributors.size());
}

template <class C>
void code_body(C& c, Fact& fact, std::vector<Contributor>& contributors, std::uint64_t format) {
  switch (fact.kind) {
    case Kind::kStepsDone: return code_fact(c, fact.steps_done, fact.at);
    case Kind::kActivityChanged: return code_fact(c, fact.activity_changed, fact.at);
    case Kind::kSliceChanged: return code_fact(c, fact.slice_changed, fact.at);
    case Kind::kFragmentTaken: return code_fact(c, fact.fragment_taken, fact.at);
    case Kind::kFragmentMerged: return code_merge(c, fact.fragment_merged, contributors);
    case Kind::kFragmentLost: return code_fact(c, fact.fragment_lost, fact.at);
    case Kind::kFragmentSkipped: return code_fact(c, fact.fragment_skipped, fact.at);
    case Kind::kFragmentAdopted: return code_fact(c, fact.fragment_adopted, fact.at);
    case Kind::kStateSent: return code_fact(c, fact.state_sent, fact.at);
    case Kind::kStateCopied: return code_fact(c, fact.state_copied, fact.at);
    case Kind::kStateLost: return code_fact(c, fact.state_lost, fact.at);
    case Kind::kCheckpointSaved: return code_fact(c, fact.checkpoint_saved, fact.at);
    case Kind::kRolledBack: return code_fact(c, fact.rolled_back, fact.at);
    case Kind::kGlobalRestored: return code_fact(c, fact.global_restored, fact.at);
    case Kind::kTransferStarted: return code_fact(c, fact.transfer_started, format);
    case Kind::kTransferDone: return code_fact(c, fact.transfer_done, fact.at);
    case Kind::kFaultStarted: return code_fact(c, fact.fault_started, fact.at);
    case Kind::kFaultEnded: return code_fact(c, fact.fault_ended, fact.at);
    case Kind::kGraceDecided: return code_fact(c, fact.grace_decided, fact.at);
    case Kind::kEvaluationDue: return code_fact(c, fact.evaluation_due, fact.at);
    case Kind::kMarkReached: return code_fact(c, fact.mark_reached, fact.at);
    case Kind::kRunEnded: return code_fact(c, fact.run_ended, fact.at);
    case Kind::kSnapshotBegun: return code_fact(c, fact.snapshot_begun, fact.at);
    case Kind::kSnapshotSaved: return code_fact(c, fact.snapshot_saved, fact.at);
    case Kind::kSnapshotEnded: return code_fact(c, fact.snapshot_ended, fact.at);
    case Kind::kDecided: return code_fact(c, fact.decided, fact.at);
    case Kind::kFragmentKept: return code_fact(c, fact.fragment_kept, fact.at);
    case Kind::kFragmentDropped: return code_fact(c, fact.fragment_dropped, fact.at);
    case Kind::kFragmentRestored: return code_fact(c, fact.fragment_restored, fact.at);
    case Kind::kMemberComputed: return code_fact(c, fact.member_computed, fact.at);
    case Kind::kBroadcastChanged: return code_fact(c, fact.broadcast_changed, fact.at);
  }
  throw std::logic_error("a fact of an unknown kind cannot be coded");
}

// `format` is the file's: a slice's own step time came with 3. A shape of format 2 knows none.
template <class C> void code_shape(C& c, RunShape& shape, std::uint64_t format) {
  const bool has_step_times = format >= 3;
  code_list(c, shape.regions, [&c](std::string& name) { code(c, name); });
  code_list(c, shape.islands, [&c](std::string& name) { code(c, name); });
  code_list(c, shape.links, [&c](LinkShape& link) {
    code_all(c, link.region_a, link.region_b, link.bytes_per_s, link.one_way,
             link.dollars_per_gb);
  });
  code_list(c, shape.slices, [&c, has_step_times](SliceShape& slice) {
    code_all(c, slice.name, slice.island, slice.region, slice.learner, slice.chips,
             slice.first_slot, slice.slot_count, slice.tokens);
    code_all(c, slice.milliwatts, slice.nanodollars_per_h);
    if (has_step_times) code(c, slice.step_time);
  });
  code_list(c, shape.learners, [&c](LearnerShape& learner) {
    code_all(c, learner.name, learner.region);
    code_list(c, learner.slices, [&c](std::uint32_t& slice) { code(c, slice); });
    code(c, learner.chips);
  });
  code_list(c, shape.fragment_parameters, [&c](std::int64_t& size) { code(c, size); });
  code_all(c, shape.chips, shape.slots, shape.batch_tokens, shape.native_tokens_per_s,
           shape.nominal_step, shape.model_is_learner, shape.may_roll_back);
  code(c, shape.watts_assumed);
  if (has_step_times) code(c, shape.steps_vary);
}

}  // namespace

void encode(Encoder& encoder, const Fact& fact, Nanoseconds previous_at, std::uint64_t format) {
  Fact copy = fact;
  code_enum(encoder, copy.kind, kLastKind);
  code_near(encoder, copy.at, previous_at);
  if (fact.kind != Kind::kFragmentMerged) {
    std::vector<Contributor> none;
    return code_body(encoder, copy, none, format);
  }
  const FragmentMerged& merged = fact.fragment_merged;
  std::vector<Contributor> contributors(merged.contributors,
                                        merged.contributors + merged.contributor_count);
  code_body(encoder, copy, contributors, format);
}

void decode(Decoder& decoder, Fact& fact, Nanoseconds previous_at,
            std::vector<Contributor>& contributors, std::uint64_t format) {
  fact = Fact();
  code_enum(decoder, fact.kind, kLastKind);
  code_near(decoder, fact.at, previous_at);
  code_body(decoder, fact, contributors, format);
}

void encode(Encoder& encoder, const RunShape& shape, std::uint64_t format) {
  RunShape copy = shape;
  code_shape(encoder, copy, format);
}

void decode(Decoder& decoder, RunShape& shape, std::uint64_t format) {
  code_shape(decoder, shape, format);
}

}  // namespace sim::tape

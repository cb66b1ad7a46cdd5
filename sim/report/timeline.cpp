// sim/report/timeline.cpp: folds facts into spans and arrows; timeline_json.cpp writes them.
#include "sim/report/timeline.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace sim::report {
namespace {

// Rows of a learner, and owners among the syncer's tracks.
constexpr std::uint32_t kActivityRow = 0, kStepsRow = 1, kFaultRows = 2;
constexpr std::uint32_t kSyncerSteps = 0, kSyncs = 1, kShards = 2;

std::size_t share(std::size_t events_max, std::size_t percent) { return events_max * percent / 100; }

}  // namespace

using tape::Kind;
using Phase = TraceEvent::Phase;

Timeline::Timeline(const tape::RunShape& shape, std::size_t events_max)
    : shape_(shape),
      names_max_(share(events_max, 10)),
      activities_(share(events_max, 25)),
      fault_spans_(share(events_max, 15)),
      syncs_(share(events_max, 30)),
      transfers_(share(events_max, 15)),
      recoveries_(share(events_max, 5)),
      learners_(shape.learners.size()),
      first_slice_(shape.islands.size(), UINT32_MAX),
      merged_sync_(shape.fragment_parameters.size(), -1) {
  if (events_max < 100) throw std::invalid_argument("a timeline needs room for 100 events");
  for (std::uint32_t s = 0; s < shape.slices.size(); ++s) {
    std::uint32_t& first = first_slice_.at(shape.slices[s].island);
    first = std::min(first, s);
  }
}

void Timeline::on(const tape::Fact& fact) {
  switch (fact.kind) {
    case Kind::kActivityChanged: return on_activity(fact.activity_changed, fact.at);
    case Kind::kStepsDone: return on_steps(fact.steps_done);
    case Kind::kFragmentTaken: return on_taken(fact.fragment_taken, fact.at);
    case Kind::kFragmentLost: return on_lost(fact.fragment_lost);
    case Kind::kFragmentMerged: return on_merged(fact.fragment_merged, fact.at);
    case Kind::kFragmentAdopted: return on_adopted(fact.fragment_adopted, fact.at);
    case Kind::kStateSent:
      states_[fact.state_sent.transfer] = {fact.state_sent.donor, fact.at};
      return;
    case Kind::kStateLost: states_.erase(fact.state_lost.transfer); return;
    case Kind::kStateCopied: return on_copied(fact.state_copied, fact.at);
    case Kind::kGraceDecided: return on_grace(fact.grace_decided, fact.at);
    case Kind::kTransferStarted: return on_transfer(fact.transfer_started, fact.at);
    case Kind::kTransferDone:
      return end_transfer(fact.transfer_done.transfer, fact.transfer_done.status, fact.at);
    case Kind::kFaultStarted: return on_fault(fact.fault_started, fact.at);
    case Kind::kFaultEnded: return end_fault(fact.fault_ended.fault, fact.at);
    case Kind::kRunEnded: return end_all(fact.at);
    default: return;
  }
}

void Timeline::on_activity(const tape::ActivityChanged& change, Nanoseconds now) {
  LearnerNow& learner = learners_.at(change.learner);
  if (learner.started && learner.since < now) {
    activities_.add({learner.since, now - learner.since, {kLearners, change.learner, kActivityRow},
                     Phase::kSpan, kActivity, static_cast<std::uint8_t>(learner.activity), 0, 0});
  }
  learner.since = now;
  learner.activity = change.activity;
  learner.started = true;
}

// Steps back to back on the same slots are one stretch, whatever each one took.
void Timeline::on_steps(const tape::StepsDone& steps) {
  LearnerNow& learner = learners_.at(steps.learner);
  const bool goes_on = learner.steps.count > 0 && steps.start == learner.steps_end &&
                       steps.tokens == learner.steps.tokens &&
                       steps.first_step == learner.steps.first_step + learner.steps.count;
  if (goes_on) {
    learner.steps.count += steps.count;
  } else {
    end_steps(steps.learner);
    learner.steps = steps;
  }
  learner.steps_end = steps.start + steps.period * steps.count;
}

void Timeline::end_steps(std::size_t index) {
  LearnerNow& learner = learners_[index];
  if (learner.steps.count == 0) return;
  activities_.add({learner.steps.start, learner.steps_end - learner.steps.start,
                   {kLearners, static_cast<std::uint32_t>(index), kStepsRow}, Phase::kSpan, kSteps, 0,
                   learner.steps.first_step, learner.steps.count});
  learner.steps.count = 0;
}

void Timeline::on_grace(const tape::GraceDecided& grace, Nanoseconds now) {
  reports_ = {decided_, now - decided_, {kSyncer, kSyncerSteps, 0}, Phase::kSpan, kReports, 0,
              grace.step, 0};
  decided_ = now;
}

// Of the step whose fragments are taken now; told with its first sync only.
std::vector<TraceEvent> Timeline::waits_before(Nanoseconds taken) {
  std::vector<TraceEvent> waits;
  if (reports_.number == 0) return waits;
  if (reports_.lasts > 0) waits.push_back(reports_);
  if (taken > decided_) {
    waits.push_back({decided_, taken - decided_, {kSyncer, kSyncerSteps, 0}, Phase::kSpan, kGrace, 0,
                     reports_.number, 0});
  }
  reports_.number = 0;
  return waits;
}

void Timeline::on_taken(const tape::FragmentTaken& taken, Nanoseconds now) {
  if (!syncs_.wants(taken.sync)) {
    decided_ = now;
    return;
  }
  const auto [place, is_new] = open_syncs_.try_emplace(taken.sync);
  OpenSync& sync = place->second;
  if (is_new) {
    sync.taken = now;
    sync.row = rows_[{kSyncer, kSyncs}].take();
    sync.fragment = taken.fragment;
    sync.waits = waits_before(now);
    decided_ = now;
  }
  sync.takes.push_back({taken.learner, now});
}

void Timeline::on_lost(const tape::FragmentLost& lost) {
  const auto found = open_syncs_.find(lost.sync);
  if (found == open_syncs_.end()) return;
  std::erase_if(found->second.takes, [&](const Visit& v) { return v.learner == lost.learner; });
  if (!found->second.takes.empty()) return;
  rows_[{kSyncer, kSyncs}].give_back(found->second.row);
  open_syncs_.erase(found);
}

void Timeline::on_merged(const tape::FragmentMerged& merged, Nanoseconds now) {
  std::int64_t& before = merged_sync_.at(merged.fragment);
  if (before >= 0) close_sync(static_cast<std::uint32_t>(before));
  before = -1;
  const auto found = open_syncs_.find(merged.sync);
  if (found == open_syncs_.end()) return;
  found->second.merged = now;
  rows_[{kSyncer, kSyncs}].give_back(found->second.row);
  before = merged.sync;
}

void Timeline::on_adopted(const tape::FragmentAdopted& adopted, Nanoseconds now) {
  const auto found = open_syncs_.find(adopted.sync);
  if (found != open_syncs_.end()) found->second.adoptions.push_back({adopted.learner, now});
}

// Arrows of adoptions after the fragment's next merge are not drawn: nobody waits for them for ever.
void Timeline::close_sync(std::uint32_t number) {
  const auto found = open_syncs_.find(number);
  if (found == open_syncs_.end()) return;
  const OpenSync sync = std::move(found->second);
  open_syncs_.erase(found);
  if (sync.merged < 0) return;
  std::vector<TraceEvent> events = sync.waits;
  events.push_back({sync.taken, sync.merged - sync.taken, {kSyncer, kSyncs, sync.row}, Phase::kSpan,
                    kSync, 0, number, sync.fragment});
  add_arrows(sync, events);
  syncs_.add(number, std::move(events));
}

void Timeline::add_arrows(const OpenSync& sync, std::vector<TraceEvent>& events) {
  // An arrow belongs to the span around it, and a span does not hold its own end.
  const Nanoseconds merged = std::max(sync.taken, sync.merged - 1);
  const auto arrow = [&](Phase phase, Nanoseconds at, TrackId track) {
    events.push_back({at, 0, track, phase, kSync, 0, next_arrow_, 0});
  };
  const TrackId here = {kSyncer, kSyncs, sync.row};
  std::vector<Visit> adoptions = sync.adoptions;
  for (const Visit& take : sync.takes) {
    const auto back = std::ranges::find(adoptions, take.learner, &Visit::learner);
    arrow(Phase::kFlowStart, take.at, {kLearners, take.learner, kActivityRow});
    if (back == adoptions.end()) {
      arrow(Phase::kFlowEnd, merged, here);
    } else {
      arrow(Phase::kFlowStep, merged, here);
      arrow(Phase::kFlowEnd, back->at, {kLearners, take.learner, kActivityRow});
      adoptions.erase(back);
    }
    ++next_arrow_;
  }
  for (const Visit& adoption : adoptions) {
    arrow(Phase::kFlowStart, merged, here);
    arrow(Phase::kFlowEnd, adoption.at, {kLearners, adoption.learner, kActivityRow});
    ++next_arrow_;
  }
}

void Timeline::on_copied(const tape::StateCopied& copied, Nanoseconds now) {
  const auto found = states_.find(copied.transfer);
  if (found == states_.end()) return;
  const Visit sent = found->second;
  states_.erase(found);
  if (!recoveries_.wants(copied.transfer)) return;
  const bool from_syncer = sent.learner == tape::kNoLearner;
  const TrackId from = from_syncer ? TrackId{kSyncer, kSyncerSteps, 0}
                                   : TrackId{kLearners, sent.learner, kActivityRow};
  const std::uint32_t id = next_arrow_++;
  recoveries_.add(copied.transfer,
                  {{sent.at, 0, from, Phase::kFlowStart, kTransfer, 0, id, 0},
                   {now, 0, {kLearners, copied.receiver, kActivityRow}, Phase::kFlowEnd, kTransfer, 0,
                    id, 0}});
}

TrackId Timeline::track_of(const tape::FaultStarted& fault) const {
  const auto of_slice = [&](std::uint32_t index) -> TrackId {
    const tape::SliceShape& slice = shape_.slices.at(index);
    if (slice.learner == tape::kNoLearner) return {kRegions, slice.region, 0};
    return {kLearners, slice.learner, kFaultRows};
  };
  switch (fault.target_kind) {
    case tape::TargetKind::kChip:
    case tape::TargetKind::kSlice: return of_slice(fault.target);
    case tape::TargetKind::kIsland: return of_slice(first_slice_.at(fault.target));
    case tape::TargetKind::kRegion: return {kRegions, fault.target, 0};
    case tape::TargetKind::kLink: {
      const auto regions = static_cast<std::uint32_t>(shape_.regions.size());
      return {kLinks, regions * regions + fault.target, 0};
    }
    case tape::TargetKind::kSyncer:
      return {kSyncer, kShards + (fault.target == tape::kCentralSyncer ? 0 : fault.target), 0};
  }
  throw std::logic_error("a fault's target of an unknown kind");
}

void Timeline::on_fault(const tape::FaultStarted& fault, Nanoseconds now) {
  TrackId track = track_of(fault);
  track.row += rows_[{track.group, track.owner}].take();
  open_faults_[fault.fault] = {now, 0, track, Phase::kSpan, kFault,
                               static_cast<std::uint8_t>(fault.kind), fault.target,
                               static_cast<std::uint32_t>(fault.target_kind)};
}

void Timeline::end_fault(std::uint32_t fault, Nanoseconds now) {
  const auto found = open_faults_.find(fault);
  if (found == open_faults_.end()) return;
  TraceEvent span = found->second;
  open_faults_.erase(found);
  span.lasts = now - span.at;
  const std::uint32_t first = span.track.group == kLearners ? kFaultRows : 0;
  rows_[{span.track.group, span.track.owner}].give_back(span.track.row - first);
  fault_spans_.add(span);
}

void Timeline::on_transfer(const tape::TransferStarted& transfer, Nanoseconds now) {
  if (transfer.traffic == tape::TrafficClass::kControl || !transfers_.wants(transfer.transfer)) return;
  const auto owner = static_cast<std::uint32_t>(
      transfer.source_region * shape_.regions.size() + transfer.target_region);
  open_transfers_[transfer.transfer] = {now, 0, {kLinks, owner, rows_[{kLinks, owner}].take()},
                                        Phase::kSpan, kTransfer,
                                        static_cast<std::uint8_t>(transfer.traffic),
                                        transfer.transfer, 0};
}

void Timeline::end_transfer(std::uint32_t transfer, tape::TransferStatus status, Nanoseconds now) {
  const auto found = open_transfers_.find(transfer);
  if (found == open_transfers_.end()) return;
  TraceEvent span = found->second;
  open_transfers_.erase(found);
  span.lasts = now - span.at;
  span.count = static_cast<std::uint32_t>(status);
  rows_[{kLinks, span.track.owner}].give_back(span.track.row);
  transfers_.add(transfer, {span});
}

void Timeline::end_all(Nanoseconds now) {
  for (std::size_t m = 0; m < learners_.size(); ++m) {
    end_steps(m);
    on_activity({static_cast<std::uint16_t>(m), learners_[m].activity}, now);
  }
  while (!open_faults_.empty()) end_fault(open_faults_.begin()->first, now);
  while (!open_transfers_.empty()) {
    end_transfer(open_transfers_.begin()->first, tape::TransferStatus::kCancelled, now);
  }
  while (!open_syncs_.empty()) close_sync(open_syncs_.begin()->first);
}

}  // namespace sim::report

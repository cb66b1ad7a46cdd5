// sim/report/timeline.h: what happened when, for a trace viewer (Chrome trace format).
//
// Tracks, from the top:
//   regions    a region's faults
//   learners   a learner's activities; its stretches of steps; faults of its chips, slices and islands
//   syncer     waiting for reports, and grace; the syncs, from take to merge; faults of each shard
//   links      from region to region, what is sent (control messages are left out); faults of each link
// Arrows lead from the learner's take to the merge to the learner's adoption of what came out, and from
// a donor to the learner that copied its state. Spans that overlap have rows of their own.
#pragma once

#include <iosfwd>
#include <map>
#include <vector>

#include "sim/report/trace_events.h"
#include "sim/tape/reader.h"
#include "sim/tape/run_shape.h"

namespace sim::report {

// Holds at most `events_max` events and about 64 bytes for each. Shares: activities and steps 25 %,
// faults 15 %, both the longest spans first; syncs 30 % with all their arrows, transfers 15 %, recoveries 5 %,
// each one in so many; names of tracks 10 %. The rules stand in the file as otherData.
class Timeline : public tape::Reader {
 public:
  // The shape outlives the timeline. Requires: events_max >= 100; else std::invalid_argument.
  explicit Timeline(const tape::RunShape& shape, std::size_t events_max = 100'000);

  void on(const tape::Fact& fact) override;

  // Call after RunEnded.
  void write_json(std::ostream& out) const;

 private:
  enum Group : std::uint8_t { kRegions = 1, kLearners, kSyncer, kLinks };
  enum What : std::uint8_t { kActivity, kSteps, kFault, kReports, kGrace, kSync, kTransfer };
  struct Visit {  // of a sync at a learner
    std::uint16_t learner;
    Nanoseconds at;
  };
  struct OpenSync {
    Nanoseconds taken, merged = -1;  // -1: not yet
    std::uint32_t row;
    std::uint16_t fragment;
    std::vector<TraceEvent> waits;  // reports and grace before it
    std::vector<Visit> takes, adoptions;
  };
  struct LearnerNow {
    Nanoseconds since = 0;
    tape::Activity activity = tape::Activity::kFinished;
    bool started = false;
    tape::StepsDone steps{};        // back to back, not yet added
    Nanoseconds steps_end = 0;
  };

  void on_activity(const tape::ActivityChanged& change, Nanoseconds now);
  void on_steps(const tape::StepsDone& steps);
  void on_taken(const tape::FragmentTaken& taken, Nanoseconds now);
  void on_lost(const tape::FragmentLost& lost);
  void on_merged(const tape::FragmentMerged& merged, Nanoseconds now);
  void on_adopted(const tape::FragmentAdopted& adopted, Nanoseconds now);
  void on_copied(const tape::StateCopied& copied, Nanoseconds now);
  void on_grace(const tape::GraceDecided& grace, Nanoseconds now);
  void on_fault(const tape::FaultStarted& fault, Nanoseconds now);
  void on_transfer(const tape::TransferStarted& transfer, Nanoseconds now);
  void end_steps(std::size_t learner);
  void end_fault(std::uint32_t fault, Nanoseconds now);
  void end_transfer(std::uint32_t transfer, tape::TransferStatus status, Nanoseconds now);
  void close_sync(std::uint32_t number);
  void end_all(Nanoseconds now);

  std::vector<TraceEvent> waits_before(Nanoseconds taken);
  void add_arrows(const OpenSync& sync, std::vector<TraceEvent>& events);
  TrackId track_of(const tape::FaultStarted& fault) const;
  std::vector<TraceEvent> all_events() const;
  std::string name_of(const TraceEvent& span) const;
  std::string name_of(const TrackId& track) const;
  void write_rules(std::ostream& out) const;
  void write_names(const std::map<TrackId, std::uint32_t>& tracks, std::ostream& out) const;

  const tape::RunShape& shape_;
  std::size_t names_max_;
  LongestSpans activities_, fault_spans_;
  SampledGroups syncs_, transfers_, recoveries_;
  std::vector<LearnerNow> learners_;
  std::vector<std::uint32_t> first_slice_;                // (islands)
  std::map<std::uint32_t, OpenSync> open_syncs_;
  std::vector<std::int64_t> merged_sync_;                 // (P); merged and not closed, or -1
  std::map<std::uint32_t, TraceEvent> open_faults_, open_transfers_;
  std::map<std::uint32_t, Visit> states_;                 // sent, by transfer
  std::map<std::pair<std::uint8_t, std::uint32_t>, Rows> rows_;  // by group and owner
  Nanoseconds decided_ = 0;                               // the last decision that is known
  TraceEvent reports_{};                                  // up to the last quorum
  std::uint32_t next_arrow_ = 1;
};

}  // namespace sim::report

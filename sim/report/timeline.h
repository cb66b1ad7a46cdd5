// sim/report/timeline.h: what happened when, for a trace viewer (Chrome trace format).
//
// Tracks: one per learner with its activities, one per kind of target with fault spans, one per
// fragment with its syncs from first take to merge.
#pragma once

#include <iosfwd>
#include <map>
#include <vector>

#include "sim/tape/reader.h"
#include "sim/tape/run_shape.h"

namespace sim::report {

using base::Nanoseconds;

// Holds at most 100,000 spans. When it is full, the shortest span it keeps doubles (from 1 ms) and
// shorter ones are dropped, until a quarter of the room is free. So the file shows every span from some
// length on; that length stands in the file as otherData.shortest_span_s.
class Timeline : public tape::Reader {
 public:
  // The shape outlives the timeline. Requires: span_count_max >= 4; else std::invalid_argument.
  explicit Timeline(const tape::RunShape& shape, std::size_t span_count_max = 100'000);

  void on(const tape::Fact& fact) override;

  // Call after RunEnded. Microseconds with three decimals are whole nanoseconds.
  void write_json(std::ostream& out) const;

 private:
  enum class Group : std::uint8_t { kLearner = 1, kFault = 2, kSync = 3 };
  struct Span {
    Nanoseconds from, to;
    Group group;
    std::uint8_t what;    // Activity or FaultKind
    std::uint32_t track;  // learner, target kind, fragment
    std::uint32_t id;     // target or sync
  };
  struct LearnerNow {
    Nanoseconds since = 0;
    tape::Activity activity = tape::Activity::kFinished;
    bool started = false;
  };
  struct OpenSync {
    Nanoseconds since;
    std::uint32_t fragment;
    std::uint32_t takes;  // not lost
  };

  void add(const Span& span);
  void on_activity(const tape::ActivityChanged& change, Nanoseconds now);
  void end_fault(std::uint32_t fault, Nanoseconds now);
  void end_all(Nanoseconds now);
  std::string name_of(const Span& span) const;
  void write_track_names(std::ostream& out) const;

  const tape::RunShape& shape_;
  std::size_t span_count_max_;
  Nanoseconds shortest_ = 0;
  std::vector<Span> spans_;
  std::vector<LearnerNow> learners_;
  std::map<std::uint32_t, Span> faults_;  // lasting, by fault
  std::map<std::uint32_t, OpenSync> syncs_;
};

}  // namespace sim::report

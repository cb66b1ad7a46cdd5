// sim/report/trace_events.h: spans and flow arrows on tracks, thinned to a bound, as a Chrome trace.
//
// What does not fit is dropped by a rule that depends on nothing but the events themselves, so that the
// file can say what it shows: all spans from some length on, or one group of events in so many.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "sim/base/time.h"

namespace sim::report {

using base::Nanoseconds;

// A row of the viewer. Tracks are shown by group, owner and row.
struct TrackId {
  std::uint8_t group;   // a process of the viewer
  std::uint32_t owner;  // within the group
  std::uint32_t row;    // of the owner
  auto operator<=>(const TrackId&) const = default;
};

struct TraceEvent {
  enum class Phase : std::uint8_t { kSpan, kFlowStart, kFlowStep, kFlowEnd };
  Nanoseconds at;
  Nanoseconds lasts;     // of a span
  TrackId track;
  Phase phase;
  std::uint8_t what;     // of spans, for their name
  std::uint8_t kind;     // the same
  std::uint32_t number;  // the same; of flows the arrow's id
  std::uint32_t count;   // of spans, for their name
};

// One thing in `one_in` (a power of 2), spread evenly over their numbers whatever rhythm these have; 0 is
// always one. Twice the `one_in` keeps half of the same.
bool is_sampled(std::uint32_t number, std::uint64_t one_in);

// At most `events_max` spans. When there are more, the shortest length kept doubles (from 1 ms); where
// that would leave less than a quarter, because most have one length, one span in twice as many is kept.
class LongestSpans {
 public:
  explicit LongestSpans(std::size_t events_max) : events_max_(events_max) {}
  void add(const TraceEvent& span);
  Nanoseconds shortest() const { return shortest_; }
  std::uint64_t one_in() const { return one_in_; }
  void append_to(std::vector<TraceEvent>& events) const;

 private:
  struct Kept {
    TraceEvent span;
    std::uint32_t number;  // counts all spans of the run
  };
  std::size_t events_max_;
  Nanoseconds shortest_ = 0;
  std::uint64_t one_in_ = 1;
  std::uint32_t count_ = 0;
  std::vector<Kept> kept_;
};

// At most `events_max` events in whole groups: when there are more, one group in twice as many is kept.
class SampledGroups {
 public:
  explicit SampledGroups(std::size_t events_max) : events_max_(events_max) {}
  bool wants(std::uint32_t number) const { return is_sampled(number, one_in_); }
  // Groups may come in any order; one that is not wanted any more is dropped.
  void add(std::uint32_t number, std::vector<TraceEvent> group);
  std::uint64_t one_in() const { return one_in_; }
  const std::map<std::uint32_t, std::vector<TraceEvent>>& groups() const { return groups_; }

 private:
  std::size_t events_max_;
  std::size_t count_ = 0;
  std::uint64_t one_in_ = 1;  // a power of 2
  std::map<std::uint32_t, std::vector<TraceEvent>> groups_;
};

// Rows of one owner for spans that may overlap: each takes the first row that is free.
class Rows {
 public:
  std::uint32_t take();
  void give_back(std::uint32_t row) { taken_.at(row) = false; }

 private:
  std::vector<bool> taken_;
};

// Microseconds with three decimals, which are whole nanoseconds.
std::string microseconds(Nanoseconds time);
// A JSON string.
std::string quoted(const std::string& text);

}  // namespace sim::report

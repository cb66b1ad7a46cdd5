// sim/report/timeline_json.cpp: a timeline's events, ordered and named, as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ostream>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "sim/readers/bucket.h"
#include "sim/readers/fault_log.h"
#include "sim/report/timeline.h"
#include "sim/report/traffic_csv.h"

namespace sim::report {
namespace {

using Phase = TraceEvent::Phase;

constexpr std::array<const char*, 4> kGroupNames = {"regions", "learners", "syncer", "links"};
constexpr const char* kRules =
    "Activities, stretches of steps and faults: one in so many of the spans from the length given on. "
    "Syncs (with the waits before them and all their arrows), transfers and recoveries: one in so many, "
    "spread evenly over their numbers. Control messages are left out.";

std::string activity_name(tape::Activity activity) {
  if (activity == tape::Activity::kStepping) return "stepping";
  return std::string(readers::bucket_name(readers::bucket_of(activity)));
}

std::string status_name(tape::TransferStatus status) {
  switch (status) {
    case tape::TransferStatus::kOk: return "";
    case tape::TransferStatus::kPeerDown: return " (peer down)";
    case tape::TransferStatus::kLinkDown: return " (link down)";
    case tape::TransferStatus::kTimeout: return " (timeout)";
    case tape::TransferStatus::kCancelled: return " (cancelled)";
  }
  throw std::logic_error("a transfer's status of an unknown kind");
}

std::string numbered(const std::string& name, std::uint32_t row) {
  return row == 0 ? name : fmt::format("{} ({})", name, row + 1);
}

}  // namespace

std::string Timeline::name_of(const TraceEvent& span) const {
  switch (span.what) {
    case kActivity: return activity_name(static_cast<tape::Activity>(span.kind));
    case kSteps:
      return span.count == 1 ? fmt::format("step {}", span.number)
                             : fmt::format("steps {} to {}", span.number, span.number + span.count - 1);
    case kFault:
      return fmt::format("{} {}", readers::fault_kind_name(static_cast<tape::FaultKind>(span.kind)),
                         readers::fault_target_name(shape_, static_cast<tape::TargetKind>(span.count),
                                                    span.number));
    case kReports: return fmt::format("reports for step {}", span.number);
    case kGrace: return fmt::format("grace of step {}", span.number);
    case kSync: return fmt::format("sync {} of fragment {}", span.number, span.count);
    case kTransfer:
      return fmt::format("{} {}{}", traffic_class_name(static_cast<tape::TrafficClass>(span.kind)),
                         span.number, status_name(static_cast<tape::TransferStatus>(span.count)));
    default: throw std::logic_error("a span of an unknown kind");
  }
}

std::string Timeline::name_of(const TrackId& track) const {
  const auto regions = static_cast<std::uint32_t>(shape_.regions.size());
  switch (track.group) {
    case kRegions: return numbered(shape_.regions.at(track.owner), track.row);
    case kLearners: {
      const std::string& name = shape_.learners.at(track.owner).name;
      if (track.row == 0) return name;
      return track.row == 1 ? name + " steps" : numbered(name + " faults", track.row - 2);
    }
    case kSyncer:
      if (track.owner == 0) return "steps";
      return track.owner == 1 ? numbered("syncs", track.row)
                              : numbered(fmt::format("shard {}", track.owner - 2), track.row);
    case kLinks:
      if (track.owner >= regions * regions) {
        return numbered(readers::fault_target_name(shape_, tape::TargetKind::kLink,
                                                   track.owner - regions * regions) +
                            " faults",
                        track.row);
      }
      return numbered(fmt::format("{} to {}", shape_.regions.at(track.owner / regions),
                                  shape_.regions.at(track.owner % regions)),
                      track.row);
    default: throw std::logic_error("a track of an unknown group");
  }
}

// By track, then date; what begins at the same date is ordered from the longest on, so that spans nest.
std::vector<TraceEvent> Timeline::all_events() const {
  std::vector<TraceEvent> events;
  activities_.append_to(events);
  fault_spans_.append_to(events);
  for (const SampledGroups* sample : {&syncs_, &transfers_, &recoveries_}) {
    for (const auto& [number, group] : sample->groups()) {
      events.insert(events.end(), group.begin(), group.end());
    }
  }
  std::ranges::stable_sort(events, [](const TraceEvent& a, const TraceEvent& b) {
    return std::tuple(a.track, a.at, -a.lasts) < std::tuple(b.track, b.at, -b.lasts);
  });
  return events;
}

void Timeline::write_rules(std::ostream& out) const {
  out << fmt::format(
      "{{\"otherData\":{{\"format\":1,\"rules\":{},\"shortest_activity_s\":\"{}\","
      "\"one_activity_in\":{},\"shortest_fault_s\":\"{}\",\"one_fault_in\":{},\"one_sync_in\":{},\"one_transfer_in\":{},"
      "\"one_recovery_in\":{}}},\n\"displayTimeUnit\":\"ms\",\n\"traceEvents\":[",
      quoted(kRules), base::format_seconds(activities_.shortest()), activities_.one_in(),
      base::format_seconds(fault_spans_.shortest()), fault_spans_.one_in(), syncs_.one_in(), transfers_.one_in(),
      recoveries_.one_in());
}

// Two events for each track as far as the room for names goes, and for each group.
void Timeline::write_names(const std::map<TrackId, std::uint32_t>& tracks, std::ostream& out) const {
  std::size_t written = 0;
  const char* separator = "\n";
  const auto write = [&](const char* what, std::uint32_t pid, std::uint32_t tid,
                         const std::string& argument) {
    out << separator
        << fmt::format("{{\"ph\":\"M\",\"name\":\"{}\",\"pid\":{},\"tid\":{},\"args\":{{{}}}}}", what, pid,
                       tid, argument);
    separator = ",\n";
    ++written;
  };
  for (std::uint32_t g = 0; g < kGroupNames.size(); ++g) {
    write("process_name", g + 1, 0, fmt::format("\"name\":\"{}\"", kGroupNames[g]));
    write("process_sort_index", g + 1, 0, fmt::format("\"sort_index\":{}", g + 1));
  }
  for (const auto& [track, tid] : tracks) {
    if (written + 2 > names_max_) return;
    write("thread_name", track.group, tid, fmt::format("\"name\":{}", quoted(name_of(track))));
    write("thread_sort_index", track.group, tid, fmt::format("\"sort_index\":{}", tid));
  }
}

void Timeline::write_json(std::ostream& out) const {
  const std::vector<TraceEvent> events = all_events();
  std::map<TrackId, std::uint32_t> tracks;  // numbered in the order shown
  for (const TraceEvent& event : events) {
    tracks.try_emplace(event.track, static_cast<std::uint32_t>(tracks.size()) + 1);
  }
  write_rules(out);
  write_names(tracks, out);
  for (const TraceEvent& event : events) {
    const std::string place =
        fmt::format("\"pid\":{},\"tid\":{},\"ts\":{}", event.track.group, tracks.at(event.track),
                    microseconds(event.at));
    if (event.phase == Phase::kSpan) {
      out << fmt::format(",\n{{\"ph\":\"X\",\"name\":{},{},\"dur\":{}}}", quoted(name_of(event)), place,
                         microseconds(event.lasts));
      continue;
    }
    const char* const name = event.what == kSync ? "sync" : "state";
    const char* const phase = event.phase == Phase::kFlowStart  ? "s"
                              : event.phase == Phase::kFlowStep ? "t"
                                                                : "f";
    out << fmt::format(",\n{{\"ph\":\"{}\",\"name\":\"{}\",\"cat\":\"{}\",\"id\":{},{}{}}}", phase, name,
                       name, event.number, place,
                       event.phase == Phase::kFlowEnd ? ",\"bp\":\"e\"" : "");
  }
  out << "\n]}\n";
}

}  // namespace sim::report

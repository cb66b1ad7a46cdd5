// sim/report/timeline.cpp: see timeline.h for the tracks and for which spans are dropped.
#include "sim/report/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>
#include <stdexcept>
#include <string>

#include "sim/readers/bucket.h"
#include "sim/readers/fault_log.h"

namespace sim::report {
namespace {

std::string activity_name(tape::Activity activity) {
  if (activity == tape::Activity::kStepping) return "stepping";
  return std::string(readers::bucket_name(readers::bucket_of(activity)));
}

std::string microseconds(Nanoseconds time) {
  return fmt::format("{}.{:03}", time / 1000, time % 1000);
}

std::string quoted(const std::string& text) { return nlohmann::json(text).dump(); }

}  // namespace

using tape::Kind;

Timeline::Timeline(const tape::RunShape& shape, std::size_t span_count_max)
    : shape_(shape), span_count_max_(span_count_max), learners_(shape.learners.size()) {
  if (span_count_max < 4) throw std::invalid_argument("a timeline needs room for four spans");
}

void Timeline::on(const tape::Fact& fact) {
  switch (fact.kind) {
    case Kind::kActivityChanged: return on_activity(fact.activity_changed, fact.at);
    case Kind::kFaultStarted: {
      const tape::FaultStarted& f = fact.fault_started;
      faults_[f.fault] = {fact.at, 0, Group::kFault, static_cast<std::uint8_t>(f.kind),
                          static_cast<std::uint32_t>(f.target_kind), f.target};
      return;
    }
    case Kind::kFaultEnded: return end_fault(fact.fault_ended.fault, fact.at);
    case Kind::kFragmentTaken:
      ++syncs_.try_emplace(fact.fragment_taken.sync,
                           OpenSync{fact.at, fact.fragment_taken.fragment, 0})
            .first->second.takes;
      return;
    case Kind::kFragmentLost: {
      const auto found = syncs_.find(fact.fragment_lost.sync);
      if (found != syncs_.end() && --found->second.takes == 0) syncs_.erase(found);
      return;
    }
    case Kind::kFragmentMerged: {
      const auto found = syncs_.find(fact.fragment_merged.sync);
      if (found == syncs_.end()) return;
      add({found->second.since, fact.at, Group::kSync, 0, found->second.fragment, found->first});
      syncs_.erase(found);
      return;
    }
    case Kind::kRunEnded: return end_all(fact.at);
    default: return;
  }
}

void Timeline::on_activity(const tape::ActivityChanged& change, Nanoseconds now) {
  LearnerNow& learner = learners_.at(change.learner);
  if (learner.started && learner.since < now) {
    add({learner.since, now, Group::kLearner, static_cast<std::uint8_t>(learner.activity),
         change.learner, 0});
  }
  learner = {now, change.activity, true};
}

void Timeline::end_fault(std::uint32_t fault, Nanoseconds now) {
  const auto found = faults_.find(fault);
  if (found == faults_.end()) return;
  found->second.to = now;
  add(found->second);
  faults_.erase(found);
}

void Timeline::end_all(Nanoseconds now) {
  for (std::size_t m = 0; m < learners_.size(); ++m) {
    on_activity({static_cast<std::uint16_t>(m), learners_[m].activity}, now);
  }
  while (!faults_.empty()) end_fault(faults_.begin()->first, now);
}

void Timeline::add(const Span& span) {
  if (span.to - span.from < shortest_) return;
  spans_.push_back(span);
  if (spans_.size() < span_count_max_) return;
  while (spans_.size() > span_count_max_ / 4 * 3) {
    shortest_ = std::max(base::kMillisecond, 2 * shortest_);
    std::erase_if(spans_, [&](const Span& s) { return s.to - s.from < shortest_; });
  }
}

std::string Timeline::name_of(const Span& span) const {
  switch (span.group) {
    case Group::kLearner: return activity_name(static_cast<tape::Activity>(span.what));
    case Group::kFault:
      return fmt::format("{} {}", readers::fault_kind_name(static_cast<tape::FaultKind>(span.what)),
                         readers::fault_target_name(
                             shape_, static_cast<tape::TargetKind>(span.track), span.id));
    case Group::kSync: return fmt::format("sync {}", span.id);
  }
  throw std::logic_error("a span of an unknown group");
}

void Timeline::write_track_names(std::ostream& out) const {
  const auto name = [&](Group group, std::size_t track, const char* key, const std::string& text) {
    out << fmt::format("{{\"ph\":\"M\",\"name\":\"{}\",\"pid\":{},\"tid\":{},\"args\":{{\"name\":{}}}}},\n",
                       key, static_cast<int>(group), track, quoted(text));
  };
  name(Group::kLearner, 0, "process_name", "learners");
  name(Group::kFault, 0, "process_name", "faults");
  name(Group::kSync, 0, "process_name", "syncs");
  for (std::size_t m = 0; m < shape_.learners.size(); ++m) {
    name(Group::kLearner, m, "thread_name", shape_.learners[m].name);
  }
  for (int k = 0; k <= static_cast<int>(tape::TargetKind::kSyncer); ++k) {
    name(Group::kFault, static_cast<std::size_t>(k), "thread_name",
         std::string(readers::target_kind_name(static_cast<tape::TargetKind>(k))));
  }
  for (std::size_t p = 0; p < shape_.fragment_parameters.size(); ++p) {
    name(Group::kSync, p, "thread_name", fmt::format("fragment {}", p));
  }
}

void Timeline::write_json(std::ostream& out) const {
  out << fmt::format("{{\"otherData\":{{\"format\":1,\"shortest_span_s\":\"{}\"}},\n",
                     base::format_seconds(shortest_));
  out << "\"displayTimeUnit\":\"ms\",\n\"traceEvents\":[\n";
  write_track_names(out);
  for (const Span& span : spans_) {
    out << fmt::format("{{\"ph\":\"X\",\"name\":{},\"pid\":{},\"tid\":{},\"ts\":{},\"dur\":{}}},\n",
                       quoted(name_of(span)), static_cast<int>(span.group), span.track,
                       microseconds(span.from), microseconds(span.to - span.from));
  }
  // The list's last element, so that no line needs to know whether it is the last.
  out << "{\"ph\":\"M\",\"name\":\"trace_end\",\"pid\":0,\"tid\":0,\"args\":{}}\n]}\n";
}

}  // namespace sim::report

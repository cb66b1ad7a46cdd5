// tests/experiment/tape_story.h: what acceptance tests ask of a recorded tape, folded once.
#pragma once

#include <cstdint>
#include <istream>
#include <set>
#include <vector>

#include "sim/readers/properties.h"
#include "sim/tape/tape_file.h"

namespace sim::experiment {

struct TapeStory {
  struct Interval {
    base::Nanoseconds from, to;
  };
  std::uint64_t facts = 0;
  readers::Sometimes sometimes;
  std::vector<Interval> up;  // at least one learner steps
  std::set<std::uint16_t> back_in_merges;  // learners that contributed in a life after their first
};

inline TapeStory read_story(std::istream& in, std::uint32_t quorum) {
  tape::TapeFile file(in);
  readers::Properties properties(file.shape(), quorum);
  TapeStory story;
  std::set<std::uint16_t> stepping;
  base::Nanoseconds since = 0;
  tape::Fact fact;
  while (file.next(fact)) {
    ++story.facts;
    properties.on(fact);
    if (fact.kind == tape::Kind::kFragmentMerged) {
      for (std::uint32_t i = 0; i < fact.fragment_merged.contributor_count; ++i) {
        const tape::Contributor& one = fact.fragment_merged.contributors[i];
        if (one.incarnation > 1) story.back_in_merges.insert(one.learner);
      }
    }
    const bool was_up = !stepping.empty();
    if (fact.kind == tape::Kind::kActivityChanged) {
      const std::uint16_t learner = fact.activity_changed.learner;
      stepping.erase(learner);
      if (fact.activity_changed.activity == tape::Activity::kStepping) stepping.insert(learner);
    }
    const bool is_up = !stepping.empty() && fact.kind != tape::Kind::kRunEnded;
    if (!was_up && is_up) since = fact.at;
    if (was_up && !is_up) story.up.push_back({since, fact.at});
  }
  story.sometimes = properties.sometimes();
  return story;
}

// Share of [from, to) in which at least one learner steps; exactly 1 when none of it is missing.
inline double uptime_between(const TapeStory& story, base::Nanoseconds from, base::Nanoseconds to) {
  base::Nanoseconds up = 0;
  for (const TapeStory::Interval& interval : story.up) {
    const auto start = std::max(interval.from, from), end = std::min(interval.to, to);
    if (start < end) up += end - start;
  }
  return static_cast<double>(up) / static_cast<double>(to - from);
}

}  // namespace sim::experiment

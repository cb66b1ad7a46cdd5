// tests/chaos/random_faults.h: schedules of overlapping faults, drawn from a named stream, for a fleet
// of three regions; all of them end.
#pragma once

#include <algorithm>
#include <cstdio>
#include <string>

#include "sim/base/random.h"
#include "tests/methods/world_fixture.h"

namespace sim::chaos {

using methods::Lived;
using methods::Setup;

constexpr base::Nanoseconds kFaultsBegin = 3 * base::kSecond;
constexpr base::Nanoseconds kFaultsOver = 80 * base::kSecond;  // starts within 60 s, each at most 20 s

// Three regions in a triangle of 10 MB/s, four learners of two slices: a, b, and c and d together.
inline Setup triangle() {
  Setup setup;
  setup.use_network(3);
  setup.add_island("a", "r0");
  setup.add_island("b", "r1");
  setup.add_island("c", "r2");
  setup.add_island("d", "r2");
  setup.duration = 160 * base::kSecond;
  return setup;
}

inline FaultOptions random_fault(base::Stream& stream, const Setup& setup) {
  static const char* const kLinks[] = {"r0--r1", "r0--r2", "r1--r2"};
  const auto& island = setup.islands[stream.next_below(setup.islands.size())];
  const std::string region = "r" + std::to_string(stream.next_below(3));
  const std::string link = kLinks[stream.next_below(3)];
  const std::string slice = island.name + "/slice-" + std::to_string(1 + stream.next_below(2));
  FaultOptions fault{};
  // On a grid of half seconds, so that many fall on one date and on the ends of steps.
  fault.at = kFaultsBegin + static_cast<base::Nanoseconds>(stream.next_below(114)) * 500'000'000;
  fault.lasts = static_cast<base::Nanoseconds>(1 + stream.next_below(39)) * 500'000'000;
  fault.kind = tape::FaultKind::kKill;
  fault.scripted = true;
  fault.rate_factor = 0;
  const bool central = setup.training.syncer.placement == methods::SyncerPlacement::kCentral;
  switch (stream.next_below(8)) {
    case 0: fault.target_kind = tape::TargetKind::kChip; fault.target = slice; break;
    case 1: fault.target_kind = tape::TargetKind::kSlice; fault.target = slice; break;
    case 2: fault.target_kind = tape::TargetKind::kIsland; fault.target = island.name; break;
    case 3: fault.target_kind = tape::TargetKind::kRegion; fault.target = region; break;
    case 4:
      fault.target_kind = tape::TargetKind::kSyncer;
      fault.target = central ? "central" : island.name;
      break;
    case 5:
      fault.kind = tape::FaultKind::kPartition;
      fault.target_kind = tape::TargetKind::kRegion;
      fault.target = region;
      break;
    case 6:
      fault.kind = tape::FaultKind::kPartition;
      fault.target_kind = tape::TargetKind::kLink;
      fault.target = link;
      break;
    default:
      fault.kind = tape::FaultKind::kRateCut;
      fault.target_kind = tape::TargetKind::kLink;
      fault.target = link;
      fault.rate_factor = stream.next_below(3) == 0 ? 0.0 : 0.3;
      break;
  }
  if (setup.training.method != methods::MethodKind::kDecoupledDiloco &&
      fault.target_kind == tape::TargetKind::kSyncer) {
    fault.target_kind = tape::TargetKind::kIsland;
    fault.target = island.name;
  }
  return fault;
}

inline void add_random_faults(std::uint64_t seed, std::size_t count, Setup& setup) {
  base::Stream stream(seed, "random faults");
  for (std::size_t i = 0; i < count; ++i) setup.faults.push_back(random_fault(stream, setup));
}

// What a run came to, in a form that goes through a pipe.
struct Verdict {
  std::uint64_t violations, merges, new_lives, lost_takes, faults;
  bool stuck, network_whole, all_joined, all_step, all_contribute, all_served;
  char first_violation[160];
  bool whole() const {
    return !stuck && network_whole && all_joined && all_step && all_contribute;
  }
};

inline bool all_joined(const Lived& lived) {
  std::vector<tape::SliceState> states(lived.fleet->shape.slices.size(), tape::SliceState::kJoined);
  for (const auto& fact : lived.recorder.of(tape::Kind::kSliceChanged)) {
    states[fact.slice_changed.slice] = fact.slice_changed.state;
  }
  return std::ranges::all_of(states, [](auto s) { return s == tape::SliceState::kJoined; });
}

// Whether each learner finished a step, and each took part in a merge, after `since`.
inline bool all_step_since(const Lived& lived, base::Nanoseconds since) {
  std::vector<bool> stepped(lived.fleet->shape.learners.size(), false);
  for (const auto& fact : lived.recorder.of(tape::Kind::kStepsDone)) {
    const auto& steps = fact.steps_done;
    if (steps.start + steps.period * steps.count > since) stepped[steps.learner] = true;
  }
  return std::ranges::all_of(stepped, [](bool s) { return s; });
}

inline bool all_contribute_since(const Lived& lived, base::Nanoseconds since) {
  std::vector<bool> merged(lived.fleet->shape.learners.size(), false);
  std::size_t merge = 0;
  for (const auto& fact : lived.recorder.of(tape::Kind::kFragmentMerged)) {
    for (const auto& contributor : lived.recorder.contributors[merge]) {
      if (fact.at > since) merged[contributor.learner] = true;
    }
    ++merge;
  }
  return std::ranges::all_of(merged, [](bool m) { return m; });
}

inline Verdict judge(const Lived& lived, const Setup& setup) {
  const auto& properties = lived.account->properties();
  const base::Nanoseconds late = setup.duration - 20 * base::kSecond;
  const bool merges = setup.training.method != methods::MethodKind::kDataParallel;
  Verdict verdict{};
  verdict.violations = properties.violation_count();
  verdict.merges = lived.account->at_end()->syncs.merged;
  verdict.new_lives = properties.sometimes().new_lives;
  verdict.lost_takes = properties.sometimes().lost_takes;
  verdict.faults = lived.account->faults().met_count();
  verdict.stuck = lived.stuck;
  verdict.network_whole = lived.network_whole;
  verdict.all_joined = all_joined(lived);
  verdict.all_step = all_step_since(lived, late);
  verdict.all_contribute = !merges || all_contribute_since(lived, late);
  if (!properties.violations().empty()) {
    std::snprintf(verdict.first_violation, sizeof verdict.first_violation, "%s",
                  properties.violations().front().c_str());
  }
  return verdict;
}

}  // namespace sim::chaos

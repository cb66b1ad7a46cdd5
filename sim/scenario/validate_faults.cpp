// sim/scenario/validate_faults.cpp: checks of [[failure]] and [[fault]]: names and targets.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "sim/chaos/fault_schema.h"
#include "sim/scenario/arm_fleet.h"
#include "sim/scenario/validate.h"

namespace sim::scenario {

using base::Place;
using base::Problems;
using tape::TargetKind;

namespace {

bool names_region(const Scenario& scenario, const std::string& name) {
  const auto& regions = scenario.network.regions;
  return std::any_of(regions.begin(), regions.end(), [&](const auto& r) { return r.name == name; });
}

bool names_island(const Scenario& scenario, const std::string& name) {
  return std::any_of(scenario.islands.begin(), scenario.islands.end(), [&](const auto& group) {
    const auto names = island_names(group);
    return std::find(names.begin(), names.end(), name) != names.end();
  });
}

bool names_group(const Scenario& scenario, const std::string& name) {
  return std::any_of(scenario.islands.begin(), scenario.islands.end(),
                     [&](const auto& group) { return group.name == name; });
}

// "west/2/slice-1": slices count from 1.
bool names_slice(const Scenario& scenario, const std::string& name) {
  for (const auto& group : scenario.islands) {
    for (const std::string& island : island_names(group)) {
      const std::string head = island + "/slice-";
      if (!name.starts_with(head)) continue;
      const std::string number = name.substr(head.size());
      for (std::int64_t s = 1; s <= group.slices; ++s) {
        if (number == std::to_string(s)) return true;
      }
    }
  }
  return false;
}

// A link's one name: its regions in the order of the [[region]] list.
std::string ordered_name(const Scenario& scenario, const engine::LinkOptions& link) {
  for (const auto& region : scenario.network.regions) {
    if (region.name == link.region_a) return chaos::link_name(link.region_a, link.region_b);
    if (region.name == link.region_b) break;
  }
  return chaos::link_name(link.region_b, link.region_a);
}

// The one name of the link that `name` means, or "". Written A--B or A+B, in either order.
std::string canonical_link(const Scenario& scenario, const std::string& name) {
  for (const auto& link : scenario.network.links) {
    const std::string& a = link.region_a;
    const std::string& b = link.region_b;
    if (name == chaos::link_name(a, b) || name == chaos::link_name(b, a) || name == a + "+" + b ||
        name == b + "+" + a) {
      return ordered_name(scenario, link);
    }
  }
  return {};
}

// What some arm can call a syncer: one beside each learner has its learner's name. Arms of a comparison share
// their faults and have other learners each, so such a name need not be met by this one.
bool names_syncer(const Scenario& scenario, const std::string& name) {
  if (name == "central" || name == "all" || names_island(scenario, name)) return true;
  constexpr std::string_view kGroup = "learner-";
  if (!name.starts_with(kGroup)) return false;
  const std::string number = name.substr(kGroup.size());
  const bool digits = std::ranges::all_of(number, [](char c) { return c >= '0' && c <= '9'; });
  return digits && !number.empty() && number.size() <= 5 && number.front() != '0';
}

std::string names_hint(const Scenario& scenario, TargetKind kind) {
  std::string listed;
  const auto add = [&listed](const std::string& name) {
    if (listed.size() < 200) listed += " " + name;
  };
  if (kind == TargetKind::kRegion) {
    for (const auto& region : scenario.network.regions) add(region.name);
  } else if (kind == TargetKind::kLink) {
    for (const auto& link : scenario.network.links) add(ordered_name(scenario, link));
  } else {
    if (kind == TargetKind::kSyncer) listed = " central all learner-1";
    for (const auto& group : scenario.islands) {
      for (const std::string& name : island_names(group)) {
        add(kind == TargetKind::kChip || kind == TargetKind::kSlice ? name + "/slice-1" : name);
      }
    }
  }
  return "names here are" + listed;
}

void check_target(const Bound& bound, chaos::FaultOptions& fault, const Place& place, Problems& problems) {
  const Scenario& scenario = bound.scenario;
  bool known = true;
  switch (fault.target_kind) {
    case TargetKind::kChip:
    case TargetKind::kSlice: known = names_slice(scenario, fault.target); break;
    case TargetKind::kIsland: known = names_island(scenario, fault.target); break;
    case TargetKind::kRegion: known = names_region(scenario, fault.target); break;
    case TargetKind::kSyncer: known = names_syncer(scenario, fault.target); break;
    case TargetKind::kLink: {
      const std::string name = canonical_link(scenario, fault.target);
      known = !name.empty();
      if (known) fault.target = name;
      break;
    }
  }
  if (!known) {
    problems.add(place,
                 fmt::format("names nothing here; got \"{}\"",
                             chaos::target_text(fault.target_kind, fault.target)),
                 names_hint(scenario, fault.target_kind));
  }
}

void check_kind(const chaos::FaultOptions& fault, const Place& place, Problems& problems) {
  const bool is_link = fault.target_kind == TargetKind::kLink;
  if (fault.kind == tape::FaultKind::kRateCut && !is_link) {
    problems.add(place, "rate-cut acts on a link; got " + std::string(chaos::target_kind_name(fault.target_kind)),
                 "write target = \"link:A--B\"");
  }
  if (fault.kind == tape::FaultKind::kPartition && !is_link && fault.target_kind != TargetKind::kRegion) {
    problems.add(place, "partition acts on a link or a region; got " +
                            std::string(chaos::target_kind_name(fault.target_kind)));
  }
}

// A drawn repair may be of any length; somebody who writes more than a run can last means for ever.
void check_lasts(const chaos::FaultOptions& fault, const Place& place, Problems& problems) {
  constexpr base::Nanoseconds kLongest = 90 * base::kDay;
  const bool never = fault.lasts == base::kNever;
  if (!fault.scripted || never || (fault.lasts > 0 && fault.lasts <= kLongest)) return;
  problems.add(place, fmt::format("must be above 0 s and at most 90 d; got \"{}\"",
                                  base::format_duration(fault.lasts)),
               "write \"forever\" for good");
}

// Chips, slices and islands are narrowed to one island or group; regions and links to one of them.
void check_only(const Bound& bound, chaos::FailureOptions& failure, const Place& place,
                Problems& problems) {
  if (failure.only.empty()) return;
  const Scenario& scenario = bound.scenario;
  bool known = false;
  if (failure.target == TargetKind::kRegion) {
    known = names_region(scenario, failure.only);
  } else if (failure.target == TargetKind::kLink) {
    const std::string name = canonical_link(scenario, failure.only);
    known = !name.empty();
    if (known) failure.only = name;
  } else {
    known = names_island(scenario, failure.only) || names_group(scenario, failure.only);
  }
  if (!known) {
    const TargetKind kind = failure.target == TargetKind::kRegion || failure.target == TargetKind::kLink
                                ? failure.target
                                : TargetKind::kIsland;
    problems.add(place, fmt::format("names nothing here; got \"{}\"", failure.only),
                 names_hint(scenario, kind));
  }
}

void check_failures(Bound& bound, std::size_t arm_index, Problems& problems) {
  std::map<std::string, std::size_t> first;
  auto& failures = bound.scenario.arms[arm_index].failures;
  for (std::size_t i = 0; i < failures.size(); ++i) {
    const auto at = [&](const char* key) {
      return place_of(bound.arms[arm_index], {"failure", std::to_string(i), key});
    };
    const auto [known, is_new] = first.emplace(failures[i].name, i);
    if (!is_new) {
      problems.add(at("name"), fmt::format("must be unique; \"{}\" is failure[{}] already",
                                           failures[i].name, known->second),
                   "random streams hang on it: give each failure a name");
    }
    check_only(bound, failures[i], at("only"), problems);
  }
}

}  // namespace

void validate_faults(Bound& bound, std::size_t arm_index, Problems& problems) {
  check_failures(bound, arm_index, problems);
  Arm& arm = bound.scenario.arms[arm_index];
  const base::Value* const list = bound.arms[arm_index].find("fault");
  const bool plain = list != nullptr && list->items.size() == arm.faults.size();
  for (std::size_t i = 0; i < arm.faults.size(); ++i) {
    if (arm.faults[i].target.empty()) continue;  // told already
    const std::string index = std::to_string(i);
    const bool recorded = !plain || list->items[i].find("file") != nullptr;
    const auto at = [&](const char* key) {
      return recorded ? place_of(bound.arms[arm_index], {"fault"})
                      : place_of(bound.arms[arm_index], {"fault", index, key});
    };
    check_target(bound, arm.faults[i], at("target"), problems);
    check_kind(arm.faults[i], at("kind"), problems);
    check_lasts(arm.faults[i], at("for"), problems);
  }
}

}  // namespace sim::scenario

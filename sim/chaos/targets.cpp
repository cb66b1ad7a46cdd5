// sim/chaos/targets.cpp: from the name of a target to what it takes down.
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "sim/chaos/injector.h"

namespace sim::chaos {

using tape::TargetKind;

namespace {

template <class Names>
std::uint32_t index_of(const Names& names, const std::string& name, const char* what) {
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) {
    throw std::invalid_argument(fmt::format("no {} is named \"{}\"", what, name));
  }
  return static_cast<std::uint32_t>(found - names.begin());
}

std::vector<std::string> slice_names(const tape::RunShape& shape) {
  std::vector<std::string> names;
  for (const auto& slice : shape.slices) names.push_back(slice.name);
  return names;
}

std::vector<std::string> link_names(const tape::RunShape& shape) {
  std::vector<std::string> names;
  for (const auto& link : shape.links) {
    names.push_back(shape.regions[link.region_a] + "--" + shape.regions[link.region_b]);
  }
  return names;
}

std::vector<std::string> learner_names(const tape::RunShape& shape) {
  std::vector<std::string> names;
  for (const auto& learner : shape.learners) names.push_back(learner.name);
  return names;
}

}  // namespace

std::string Injector::name_of(const Target& target) const {
  const tape::RunShape& shape = world_.shape();
  switch (target.kind) {
    case TargetKind::kChip:
    case TargetKind::kSlice:
      return shape.slices[target.index].name;
    case TargetKind::kIsland:
      return shape.islands[target.index];
    case TargetKind::kRegion:
      return shape.regions[target.index];
    case TargetKind::kLink:
      return link_names(shape)[target.index];
    case TargetKind::kSyncer:
      break;
  }
  return target.index == tape::kCentralSyncer ? "central" : shape.learners[target.index].name;
}

bool Injector::has_central_syncer() const {
  return world_.training.syncer.placement == methods::SyncerPlacement::kCentral;
}

std::vector<Injector::Target> Injector::targets_of(const FailureOptions& failure) const {
  const tape::RunShape& shape = world_.shape();
  std::size_t count = 0;
  switch (failure.target) {
    case TargetKind::kChip:
    case TargetKind::kSlice:
      count = shape.slices.size();
      break;
    case TargetKind::kIsland:
      count = shape.islands.size();
      break;
    case TargetKind::kRegion:
      count = shape.regions.size();
      break;
    case TargetKind::kLink:
      count = shape.links.size();
      break;
    case TargetKind::kSyncer:
      count = method_.syncer_count();
      break;
  }
  std::vector<Target> targets;
  for (std::uint32_t i = 0; i < count; ++i) {
    const bool central = failure.target == TargetKind::kSyncer && has_central_syncer();
    const Target target{failure.target, central ? tape::kCentralSyncer : i};
    if (failure.only.empty() || name_of(target) == failure.only ||
        name_of(target).starts_with(failure.only + "/")) {
      targets.push_back(target);
    }
  }
  return targets;
}

// Nothing: a syncer that this arm does not have; everything else every arm has.
std::optional<Injector::Target> Injector::find_target(const FaultOptions& fault) const {
  const tape::RunShape& shape = world_.shape();
  switch (fault.target_kind) {
    case TargetKind::kChip:
    case TargetKind::kSlice:
      return Target{fault.target_kind, index_of(slice_names(shape), fault.target, "slice")};
    case TargetKind::kIsland:
      return Target{fault.target_kind, index_of(shape.islands, fault.target, "island")};
    case TargetKind::kRegion:
      return Target{fault.target_kind, index_of(shape.regions, fault.target, "region")};
    case TargetKind::kLink: {
      const std::vector<std::string> names = link_names(shape);
      const std::size_t cut = fault.target.find("--");
      const std::string reversed =
          cut == std::string::npos
              ? fault.target
              : fault.target.substr(cut + 2) + "--" + fault.target.substr(0, cut);
      const bool listed = std::ranges::find(names, fault.target) != names.end();
      return Target{fault.target_kind, index_of(names, listed ? fault.target : reversed, "link")};
    }
    case TargetKind::kSyncer:
      break;
  }
  if (method_.syncer_count() == 0 || has_central_syncer() != (fault.target == "central")) return {};
  if (has_central_syncer()) return Target{fault.target_kind, tape::kCentralSyncer};
  const std::vector<std::string> names = learner_names(shape);
  const auto found = std::ranges::find(names, fault.target);
  if (found == names.end()) return {};
  return Target{fault.target_kind, static_cast<std::uint32_t>(found - names.begin())};
}

std::size_t Injector::shard_of(const Target& syncer) const {
  return syncer.index == tape::kCentralSyncer ? 0 : syncer.index;
}

// What is worked with when a target is: the slices in it, or for a link those in the regions it joins.
std::vector<std::uint32_t> Injector::exposing_slices(const Target& target) const {
  if (target.kind != TargetKind::kLink) return slices_of(target);
  const tape::LinkShape& link = world_.shape().links[target.index];
  std::vector<std::uint32_t> slices = slices_of({TargetKind::kRegion, link.region_a});
  const std::vector<std::uint32_t> others = slices_of({TargetKind::kRegion, link.region_b});
  slices.insert(slices.end(), others.begin(), others.end());
  return slices;
}

std::vector<std::uint32_t> Injector::slices_of(const Target& target) const {
  if (target.kind == TargetKind::kChip || target.kind == TargetKind::kSlice) return {target.index};
  std::vector<std::uint32_t> slices;
  for (std::uint32_t s = 0; s < world_.shape().slices.size(); ++s) {
    const auto& slice = world_.shape().slices[s];
    const bool in_island = target.kind == TargetKind::kIsland && slice.island == target.index;
    const bool in_region = target.kind == TargetKind::kRegion && slice.region == target.index;
    if (in_island || in_region) slices.push_back(s);
  }
  return slices;
}

// The shards whose hosts stand in what is lost: of a region, those in it; of an island, those of
// the learners that begin on it.
std::vector<std::uint32_t> Injector::shards_of(const Target& target) const {
  std::vector<std::uint32_t> shards;
  const tape::RunShape& shape = world_.shape();
  for (std::uint32_t s = 0; s < method_.syncer_count(); ++s) {
    const std::uint16_t region = method_.syncer_region(static_cast<std::uint16_t>(s));
    const bool named = target.kind == TargetKind::kSyncer && shard_of(target) == s;
    const bool in_region = target.kind == TargetKind::kRegion && region == target.index;
    const bool in_island = target.kind == TargetKind::kIsland && !has_central_syncer() &&
                           shape.slices[shape.learners[s].slices.front()].island == target.index;
    if (named || in_region || in_island) shards.push_back(s);
  }
  return shards;
}

}  // namespace sim::chaos

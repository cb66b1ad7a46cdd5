// sim/engine/transport_paths.cpp: what is between the regions at present: links, paths, plans.
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "sim/engine/transport.h"

namespace sim::engine {

// --- Paths ---

// Most hops cross one whole link: they stay as they are, and cost no more than looking.
void Transport::lay_out(Exchange& exchange) const {
  if (model_ == NetworkModel::kNone) {
    for (Part& part : exchange.parts_) part.hop.bytes = 0;
    return;
  }
  std::vector<Part> relayed;
  for (std::size_t i = 0; i < exchange.parts_.size(); ++i) {
    Part& part = exchange.parts_[i];
    const auto [source, target, bytes] = part.hop;
    const bool direct = crosses_whole_link(part.hop);
    const Path* const way_there = direct || !reachable(source, target) ? nullptr : &path(source, target);
    if (direct) part.one_way = way(part.hop).one_way;
    if (way_there != nullptr) part.one_way = way_there->one_way;
    if (relayed.empty() && (way_there == nullptr || way_there->regions.size() == 2)) continue;
    if (relayed.empty()) {
      const auto here = exchange.parts_.begin() + static_cast<std::ptrdiff_t>(i);
      relayed.assign(exchange.parts_.begin(), here);
    }
    if (way_there == nullptr) {
      relayed.push_back(part);
      continue;
    }
    for (std::size_t k = 0; k + 1 < way_there->regions.size(); ++k) {
      relayed.push_back(part);
      relayed.back().hop = {way_there->regions[k], way_there->regions[k + 1], bytes};
    }
  }
  if (!relayed.empty()) exchange.parts_ = std::move(relayed);
}

// Also the fabric of a region.
bool Transport::crosses_whole_link(const Hop& hop) const {
  const std::size_t found = find_way(hop.source_region, hop.target_region);
  return found != kNoWay && ways_[found].up && ways_[found].factor == 1.0;
}

TransferStatus Transport::condition_of(const Part& part) const {
  const auto& [source, target, bytes] = part.hop;
  bool usable = region_is_up_[source] && region_is_up_[target];
  if (model_ == NetworkModel::kNone) {
    usable = reachable(source, target);
  } else if (usable) {
    const std::size_t found = find_way(source, target);
    usable = found != kNoWay && ways_[found].up;
  }
  if (usable) return TransferStatus::kOk;
  const bool ends_up = region_is_up_[part.source_end] && region_is_up_[part.target_end];
  return ends_up ? TransferStatus::kLinkDown : TransferStatus::kPeerDown;
}

void Transport::forget_paths() {
  finder_.reset();
  paths_.clear();
  plans_.clear();
}

void Transport::refresh_groups() {
  ++reachable_number_;
  forget_paths();
  group_ = connected_groups(present_view());
}

NetworkView Transport::present_view() const {
  NetworkView view{region_count_, {}};
  for (std::size_t i = region_count_; i < ways_.size(); ++i) {  // behind the fabrics
    const Way& link = ways_[i];
    if (!link.up || !region_is_up_[link.region_a] || !region_is_up_[link.region_b]) continue;
    view.links.push_back({link.region_a, link.region_b, link.bytes_per_s * link.factor, link.one_way,
                          link.factor < 1.0});
  }
  return view;
}

bool Transport::never_joined(std::uint16_t region_a, std::uint16_t region_b) const {
  return region_is_up_[region_a] && region_is_up_[region_b] &&
         whole_group_[region_a] != whole_group_[region_b];
}

const PathFinder& Transport::finder() const {
  if (!finder_) finder_ = std::make_unique<PathFinder>(present_view());
  return *finder_;
}

const Path& Transport::path(std::uint16_t region_a, std::uint16_t region_b) const {
  if (!reachable(region_a, region_b)) {
    throw std::logic_error(fmt::format("transport: no path {} - {}", region_a, region_b));
  }
  const auto [found, is_new] = paths_.try_emplace({region_a, region_b});
  if (is_new) {
    const Way& fabric = ways_[region_a];
    found->second = region_a == region_b
                        ? Path{{region_a, region_a}, fabric.bytes_per_s, fabric.one_way}
                        : finder().usual(region_a, region_b);
  }
  return found->second;
}

double Transport::path_bytes_per_s(std::uint16_t region_a, std::uint16_t region_b) const {
  return path(region_a, region_b).bytes_per_s;
}

Nanoseconds Transport::path_one_way(std::uint16_t region_a, std::uint16_t region_b) const {
  const Path& found = path(region_a, region_b);
  return model_ == NetworkModel::kNone ? 0 : found.one_way;
}

Nanoseconds Transport::duration_alone(Hop hop) const {
  if (model_ == NetworkModel::kNone) return 0;
  const Path& found = path(hop.source_region, hop.target_region);
  return found.one_way +
         base::from_seconds(static_cast<double>(hop.bytes) / found.bytes_per_s);
}

std::shared_ptr<const ReducePlan> Transport::plan(const std::vector<std::uint16_t>& members,
                                                  std::int64_t payload_bytes) const {
  std::shared_ptr<const ReducePlan>& kept = plans_[{members, payload_bytes}];
  if (kept) return kept;
  if (model_ != NetworkModel::kNone) {
    kept = std::make_shared<const ReducePlan>(
        plan_all_reduce(finder().view(), members, payload_bytes));
    return kept;
  }
  ReducePlan plan;
  plan.members = members;
  std::ranges::sort(plan.members);
  for (const std::uint16_t member : plan.members) {
    if (!reachable(member, plan.members.front())) plan.left_out.push_back(member);
  }
  std::erase_if(plan.members, [&](std::uint16_t member) {
    return std::ranges::binary_search(plan.left_out, member);
  });
  for (std::size_t i = 0; i < plan.members.size() && plan.members.size() > 1; ++i) {
    plan.hops_crossed.emplace_back(plan.members[i], plan.members[(i + 1) % plan.members.size()]);
  }
  kept = std::make_shared<const ReducePlan>(std::move(plan));
  return kept;
}

// --- Links ---

bool Transport::has_link(std::uint16_t region_a, std::uint16_t region_b) const {
  return region_a != region_b && find_way(region_a, region_b) != kNoWay;
}

double Transport::link_bytes_per_s(std::uint16_t region_a, std::uint16_t region_b) const {
  return ways_[way_index(region_a, region_b)].bytes_per_s;
}

Nanoseconds Transport::one_way(std::uint16_t region_a, std::uint16_t region_b) const {
  return ways_[way_index(region_a, region_b)].one_way;
}

void Transport::refuse(std::uint16_t region) {
  throw std::logic_error(fmt::format("transport: no region {}", region));
}

std::size_t Transport::find_way(std::uint16_t region_a, std::uint16_t region_b) const {
  return way_of_pair_[pair_index(region_a, region_b)];
}

std::size_t Transport::way_index(std::uint16_t region_a, std::uint16_t region_b) const {
  const std::size_t found = find_way(region_a, region_b);
  if (found == kNoWay) {
    throw std::logic_error(fmt::format("transport: no link {} - {}", region_a, region_b));
  }
  return found;
}

const Transport::Way& Transport::way(const Hop& hop) const {
  return ways_[way_index(hop.source_region, hop.target_region)];
}

Transport::Way& Transport::link(std::uint16_t region_a, std::uint16_t region_b) {
  if (!has_link(region_a, region_b)) {
    throw std::logic_error(fmt::format("transport: no link {} - {}", region_a, region_b));
  }
  return ways_[way_index(region_a, region_b)];
}

}  // namespace sim::engine

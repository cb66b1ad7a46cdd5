// sim/methods/gradient_reduction.cpp: see gradient_reduction.h.
#include "sim/methods/gradient_reduction.h"

#include <algorithm>

#include "sim/engine/collectives.h"

namespace sim::methods {

bool GradientReduction::is_wide(const Job& job) const {
  return world_.network.model != engine::NetworkModel::kNone && job.regions().size() > 1;
}

std::shared_ptr<const engine::ReducePlan> GradientReduction::plan(const Job& job) const {
  return world_.transport.plan(job.regions(), gradient_bytes());
}

Nanoseconds GradientReduction::local_time(const Job& job) const {
  if (world_.network.model == engine::NetworkModel::kNone) return 0;
  Nanoseconds longest = 0;
  for (const std::uint16_t region : job.regions()) {
    longest = std::max(longest, engine::local_all_reduce(world_.network.regions[region],
                                                         job.joined_in(region), gradient_bytes()));
  }
  return longest;
}

Nanoseconds GradientReduction::exposed_local_time(const Job& job, Nanoseconds compute) const {
  return exposed_reduction(local_time(job), compute, world_.training.buckets);
}

std::vector<engine::Hop> GradientReduction::first_buckets(
    const Job& job, const engine::ReducePlan& plan) const {
  return hops(job, plan, gradient_bytes() - gradient_bytes() / world_.training.buckets);
}

std::vector<engine::Hop> GradientReduction::last_bucket(
    const Job& job, const engine::ReducePlan& plan) const {
  return hops(job, plan, gradient_bytes() / world_.training.buckets);
}

Nanoseconds GradientReduction::first_ready(Nanoseconds compute) const {
  return compute / 3 + 2 * compute / 3 / world_.training.buckets;
}

Nanoseconds GradientReduction::tail(const Job& job, const engine::ReducePlan& plan) const {
  return plan.extra_latency + local_time(job) / world_.training.buckets;
}

std::int64_t GradientReduction::gradient_bytes() const {
  return static_cast<std::int64_t>(static_cast<double>(world_.model.parameters) *
                                   world_.model.gradient_bytes);
}

// Two-level: the regions are the members of the wide ring. Flat ring: all slices are, laid out
// region by region, so each wide edge carries 2 (n-1)/n with n slices.
std::vector<engine::Hop> GradientReduction::hops(const Job& job, const engine::ReducePlan& plan,
                                                 std::int64_t payload_bytes) const {
  if (world_.training.reduce != ReduceKind::kRing) return plan.hops(payload_bytes);
  const auto members = static_cast<double>(job.joined_count());
  return plan.edge_hops(static_cast<std::int64_t>(2 * (members - 1) / members *
                                                  static_cast<double>(payload_bytes)));
}

Nanoseconds exposed_reduction(Nanoseconds total, Nanoseconds compute, std::int64_t buckets) {
  if (total == 0) return 0;
  const Nanoseconds hidden = 2 * compute / 3 - 2 * compute / 3 / buckets;
  return std::max(total - hidden, total / buckets);
}

}  // namespace sim::methods

// sim/methods/gradient_reduction.h: the all-reduce of gradients inside one job of slices, by arithmetic.
//
// The same for data parallel and for each learner of every other method. Two-level: inside each
// region over its fabric, then one ring over the regions. Gradients leave in buckets that become
// ready evenly through the backward pass, so that only what does not fit beside it is exposed.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/engine/reduce_plan.h"
#include "sim/methods/job.h"

namespace sim::methods {

class GradientReduction {
 public:
  explicit GradientReduction(const World& world) : world_(world) {}

  // It crosses links: the job's slices lie in several regions of a simulated network.
  bool is_wide(const Job& job) const;
  // Over the job's regions, on what the links carry now (engine/reduce_plan.h).
  std::shared_ptr<const engine::ReducePlan> plan(const Job& job) const;

  // The part inside the regions: the slowest of them; no time without a network.
  Nanoseconds local_time(const Job& job) const;
  // What of it a step of `compute` does not hide.
  Nanoseconds exposed_local_time(const Job& job, Nanoseconds compute) const;

  // On the wide links: the last bucket, which leaves after the backward pass, and all others before it.
  std::vector<engine::Hop> first_buckets(const Job& job, const engine::ReducePlan& plan) const;
  std::vector<engine::Hop> last_bucket(const Job& job, const engine::ReducePlan& plan) const;
  // When the first bucket is there, after the begin of a step: a third of it is forward, the rest
  // backward.
  Nanoseconds first_ready(Nanoseconds compute) const;
  // Behind the last bucket: the plan's delays beyond its hops', and its part inside the regions.
  Nanoseconds tail(const Job& job, const engine::ReducePlan& plan) const;

 private:
  std::int64_t gradient_bytes() const;
  std::vector<engine::Hop> hops(const Job& job, const engine::ReducePlan& plan,
                                std::int64_t payload_bytes) const;

  const World& world_;
};

// Exposed communication of a reduction that takes `total` alone and overlaps a backward pass of two
// thirds of `compute` in `buckets` equal parts:
//   max( total - 2/3 compute (1 - 1/buckets), total / buckets )
// Source: facts (decoupled-diloco.md) 3.3, the closed form that fits Table 13.
Nanoseconds exposed_reduction(Nanoseconds total, Nanoseconds compute, std::int64_t buckets);

}  // namespace sim::methods

// sim/methods/data_parallel.h: synchronous data parallel over one job of all slices.
//
// Every step all-reduces the whole gradient, overlapped with the backward pass. Elastic: a loss
// shrinks the job and the batch. Non-elastic: a loss stops everything until the slices are back,
// the program has restarted, the last checkpoint is loaded, and the lost steps are redone.
#pragma once

#include "sim/methods/elastic_job.h"
#include "sim/methods/method.h"

namespace sim::methods {

class DataParallel final : public Method {
 public:
  explicit DataParallel(World& world);

  void start() override;
  void slices_lost(std::span<const std::uint32_t> slices) override;
  void hosts_lost(std::span<const std::uint32_t>) override {}  // only the checkpoint is gone back to
  void slices_returned(std::span<const std::uint32_t> slices) override;
  void syncer_lost(std::uint16_t) override {}
  void syncer_returned(std::uint16_t) override {}
  std::size_t syncer_count() const override { return 0; }
  std::uint16_t syncer_region(std::uint16_t) const override { return 0; }
  void network_changed() override { job_.network_changed(); }
  void tell_finished_steps() override { job_.tell_stretch(); }
  Nanoseconds step_end(std::uint16_t) const override { return job_.step_end(); }

 private:
  engine::Process live(bool after_loss);
  engine::Task<> recover();
  engine::Task<> load_checkpoint();
  engine::Task<> save_checkpoint();
  engine::Task<> step_without_links();
  engine::Task<> step_over_links();

  std::vector<std::uint32_t> mine(std::span<const std::uint32_t> slices) const;
  Nanoseconds local_reduce_time() const;
  std::vector<engine::Hop> wide_hops(const engine::ReducePlan& plan,
                                     std::int64_t payload_bytes) const;
  std::int64_t gradient_bytes() const;
  std::uint32_t steps_until_interruption(Nanoseconds period) const;

  World& world_;
  ElasticJob job_;
  std::uint32_t saved_step_ = 0;
  std::uint32_t saved_schedule_step_ = 0;
  Nanoseconds next_checkpoint_ = base::kNever;
  bool state_lost_ = false;  // a loss stopped the whole job: it goes on from the checkpoint
};

// Exposed communication of a reduction that takes `total` alone and overlaps a backward pass of two
// thirds of `compute` in `buckets` equal parts:
//   max( total - 2/3 compute (1 - 1/buckets), total / buckets )
// Source: facts (decoupled-diloco.md) 3.3, the closed form that fits Table 13.
Nanoseconds exposed_reduction(Nanoseconds total, Nanoseconds compute, std::int64_t buckets);

}  // namespace sim::methods

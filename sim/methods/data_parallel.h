// sim/methods/data_parallel.h: synchronous data parallel over one job of all slices.
//
// Every step all-reduces the whole gradient, overlapped with the backward pass. Elastic: a loss, or a
// partition, shrinks the job and the batch. Non-elastic: a loss stops everything until the slices are
// back and the program has restarted; a partition makes it wait. What stopped altogether goes on from
// the state that somebody still holds (recovery), else from the last checkpoint, else from the
// beginning, and does the lost steps again.
#pragma once

#include "sim/methods/elastic_job.h"
#include "sim/methods/method.h"

namespace sim::methods {

class DataParallel final : public Method {
 public:
  explicit DataParallel(World& world);

  void start() override;
  void slices_lost(std::span<const std::uint32_t> slices) override;
  void hosts_lost(std::span<const std::uint32_t> slices) override;
  void slices_returned(std::span<const std::uint32_t> slices) override;
  void syncer_lost(std::uint16_t) override {}
  void syncer_returned(std::uint16_t) override {}
  std::size_t syncer_count() const override { return 0; }
  std::uint16_t syncer_region(std::uint16_t) const override { return 0; }
  void network_changed() override;
  void tell_finished_steps() override { job_.tell_stretch(); }
  Nanoseconds step_end(std::uint16_t) const override { return job_.step_end(); }

 private:
  engine::Process live(bool after_loss);
  engine::Task<> recover();
  engine::Task<> load_checkpoint();
  engine::Task<> save_checkpoint();
  void react();

  std::vector<std::uint32_t> mine(std::span<const std::uint32_t> slices) const;
  std::uint32_t steps_until_interruption() const;

  World& world_;
  ElasticJob job_;
  std::uint32_t saved_step_ = 0;
  std::uint32_t saved_schedule_step_ = 0;
  Nanoseconds next_checkpoint_ = base::kNever;
  bool state_lost_ = false;  // it goes on from the checkpoint, whatever hits it before it has that
};

}  // namespace sim::methods

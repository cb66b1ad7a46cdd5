// sim/methods/elastic_job.h: how a job of slices stops for a loss, shrinks, and grows again.
//
// The rules are those of the paper's failure simulation and are the same for data parallel and for
// each learner of Decoupled DiLoCo: a loss stops the whole job for the downscale, training goes on
// with fewer slices, and returned slices stop it once for the upscale.
// Source: arXiv:2604.21428, section 3.3; facts 2.1 and 2.6.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "sim/methods/job.h"

namespace sim::methods {

class ElasticJob : public Job {
 public:
  ElasticJob(World& world, std::uint16_t learner)
      : Job(world, learner), attention_(world.conductor), world_(world) {}

  // Where the job's life is (re)started: it is killed and spawned anew at every loss.
  using Life = std::function<engine::Process()>;
  void start(Life life);
  bool alive() const { return world_.conductor.alive(life_); }
  // Runs `life` in place of whatever the job does now.
  void restart(Life life);

  // Takes the slices away. Returns whether the job must react: false when none was joined or starting
  // with the program, or when the second hit of a reconfiguration is absorbed.
  bool lose_slices(std::span<const std::uint32_t> slices);
  void return_slices(std::span<const std::uint32_t> slices);

  // Stops, notices, and goes on with the slices left. Requires: at least one is joined.
  engine::Task<> shrink();
  // Waits until a slice is back (`all`: until all are), then restarts the program; the waiting
  // slices are joined at its end.
  engine::Task<> wait_and_restart(bool all);
  // Slices wait, and the state that they may need can reach them.
  bool can_grow() const { return any_waiting() && !joinable().empty(); }
  // Stops once and joins all that waited when it began to stop. Where `join_state` says so, each
  // region fetches the state once. Returns without them when that transfer broke.
  engine::Task<> grow();

  // Steps alike, told as one stretch, until `end`, or the next boundary after a slice returned.
  engine::Task<> run_stretch(Nanoseconds period, Nanoseconds compute, std::uint32_t steps);

  // A stretch that runs ends at the next step boundary.
  void end_stretch_soon() { attention_.notify(); }

  // What kept waiting slices out may be over: looks again at the end of the step.
  void network_changed();

 private:
  bool reconfiguring() const;
  std::vector<std::uint32_t> joinable() const;
  // `joining` outlives the task.
  engine::Task<bool> fetch_state(const std::vector<std::uint32_t>& joining);
  // The nearest region that has joined slices and reaches `target`; itself where it has some.
  std::optional<std::uint16_t> state_source(std::uint16_t target) const;

  engine::Signal attention_;  // a slice returned, or may join now
  engine::ProcessId life_;
  World& world_;
};

}  // namespace sim::methods
